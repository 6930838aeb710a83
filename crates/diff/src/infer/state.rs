//! Reads and writes the state of an inference as JSON Lines. The first line is a header. Each other line is a shape; it
//! refers to shapes on earlier lines by their number, from 0. The last line is the shape of all samples.

use super::Inference;
use super::read::InferenceState;
use crate::shape::text::Formats;
use crate::shape::{
    Arrays, Elements, Field, Fields, Group, MAX_DEPTH, MAX_POSITIONS, Objects, Shape, Strings, Tag,
};
use agentnative_contract::DISCRIMINATORS;
use agentnative_contract::error::{Error, Issue, Place, Result};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

/// Version of the file format.
const VERSION: u32 = 1;
/// Maximum length of a line, in bytes. The longest line describes objects with 64 × 8 groups of 512 keys.
const MAX_LINE_BYTES: u64 = 64 << 20;
/// Maximum value of a count in the file.
const MAX_COUNT: u64 = 1 << 53;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    inference: u32,
    /// Number of lines with a shape after the header.
    shapes: usize,
    inputs: u64,
    records: u64,
    bytes: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ShapeLine {
    nulls: u64,
    bools: u64,
    integers: u64,
    numbers: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    strings: Option<StringsPart>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arrays: Option<ArraysPart>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    objects: Option<ObjectsPart>,
    deep: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StringsPart {
    count: u64,
    formats: Formats,
    choices: Option<Vec<(Box<str>, u64)>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ArraysPart {
    count: u64,
    elements: ElementsPart,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ElementsPart {
    Tuple(Vec<usize>),
    List(usize),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ObjectsPart {
    /// Keys such as `type` that have too many different values to distinguish variants.
    loose: Vec<Box<str>>,
    groups: Vec<GroupPart>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupPart {
    /// Key and value that all objects of the group have in common, such as `("type", "start")`.
    tag: Option<(Box<str>, Box<str>)>,
    count: u64,
    /// For each key: the key, the number of objects that have it, and the number of the line with the shape of its
    /// values.
    fields: Vec<(Box<str>, u64, usize)>,
    map: Option<usize>,
}

impl Inference {
    /// Writes the state of the inference, which [`Inference::read_state`] reads.
    ///
    /// # Errors
    /// Fails if the writer fails.
    pub fn write_state(&self, mut to: impl Write) -> io::Result<()> {
        let InferenceState { inputs, records, bytes, .. } = self.state;
        let mut shapes = 0;
        write_shape(&self.state.shape, &mut shapes, &mut io::sink())?;
        write_line(&mut to, &Header { inference: VERSION, shapes, inputs, records, bytes })?;
        write_shape(&self.state.shape, &mut 0, &mut to)?;
        to.flush()
    }

    /// Reads the state that [`Inference::write_state`] wrote to the file at `path`.
    ///
    /// # Errors
    /// A configuration error with the line number if the state is invalid. If the file cannot be read, the error of
    /// [`Error::data_file`].
    pub fn read_state(path: &Path, from: impl Read) -> Result<Self> {
        let mut lines = BufReader::new(from);
        let (mut header, mut shapes) = (None, ShapeTable::default());
        let mut text = Vec::new();
        for line_number in 1.. {
            text.clear();
            let length = (&mut lines).take(MAX_LINE_BYTES).read_until(b'\n', &mut text);
            if length.map_err(|error| Error::data_file(path, &error))? == 0 {
                break;
            }
            let added = match header {
                None => read_header(&text).map(|read| header = Some(read)),
                Some(_) => serde_json::from_slice(&text)
                    .map_err(|error| error.to_string())
                    .and_then(|line| shapes.add(line)),
            };
            added.map_err(|message| invalid(path, line_number, message))?;
        }
        let lines = shapes.0.len() + 1;
        let complete = header.filter(|header| header.shapes + 1 == lines).zip(shapes.root());
        let (Header { inputs, records, bytes, .. }, shape) =
            complete.ok_or_else(|| invalid(path, lines, "the file is incomplete".to_owned()))?;
        Ok(Self { state: InferenceState { shape, inputs, records, bytes, problems: Vec::new() } })
    }
}

fn read_header(text: &[u8]) -> Result<Header, String> {
    let header: Header = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    if header.inference != VERSION {
        return Err(format!("unknown version {}; expected version {VERSION}", header.inference));
    }
    [header.inputs, header.records, header.bytes]
        .into_iter()
        .try_for_each(|count| check_count(count).map(drop))?;
    Ok(header)
}

fn invalid(path: &Path, line: usize, message: String) -> Error {
    let place = Place { file: path.to_owned(), line, column: 1 };
    let issue = Issue { place: Some(place), message };
    Error::config(format!("{} is not a valid state of `contract infer`", path.display())).issues(vec![issue])
}

fn write_line(to: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *to, value)?;
    to.write_all(b"\n")
}

/// Writes a shape as one line, after the lines of the shapes that it refers to. Returns the number of the line.
fn write_shape(shape: &Shape, written: &mut usize, to: &mut impl Write) -> io::Result<usize> {
    let strings = shape.strings.as_ref().map(|strings| StringsPart {
        count: strings.count,
        formats: strings.formats,
        choices: strings.choices.clone(),
    });
    let mut write = |shape: &Shape| write_shape(shape, written, to);
    let arrays = shape.arrays.as_ref().map(|arrays| {
        let elements = match &arrays.elements {
            Elements::Tuple(places) => {
                ElementsPart::Tuple(places.iter().map(&mut write).collect::<io::Result<_>>()?)
            }
            Elements::List(list) => ElementsPart::List(write(list)?),
        };
        Ok::<_, io::Error>(ArraysPart { count: arrays.count, elements })
    });
    let arrays = arrays.transpose()?;
    let objects = shape.objects.as_ref().map(|objects| {
        let keys = DISCRIMINATORS.iter().enumerate();
        let loose =
            keys.filter(|(key, _)| objects.is_former_tag(*key)).map(|(_, known)| known.key.into()).collect();
        let group = |group: &Group| {
            let tag = group.tag.as_ref().map(|tag| (DISCRIMINATORS[tag.key].key.into(), tag.value.clone()));
            let field = |field: &Field| Ok((field.key.text().into(), field.count, write(&field.shape)?));
            let fields = group.fields.members.iter().map(field).collect::<io::Result<_>>()?;
            let map = group.fields.map.as_ref().map(|map| write(map)).transpose()?;
            Ok(GroupPart { tag, count: group.count, fields, map })
        };
        Ok::<_, io::Error>(ObjectsPart {
            loose,
            groups: objects.groups.iter().map(group).collect::<io::Result<_>>()?,
        })
    });
    let objects = objects.transpose()?;
    let Shape { nulls, bools, integers, numbers, deep, .. } = *shape;
    write_line(to, &ShapeLine { nulls, bools, integers, numbers, strings, arrays, objects, deep })?;
    *written += 1;
    Ok(*written - 1)
}

/// The shapes on the lines until now, each with its height (the number of nested levels). An entry becomes `None` when
/// a later shape takes it over.
#[derive(Default)]
struct ShapeTable(Vec<Option<(Shape, usize)>>);

impl ShapeTable {
    fn add(&mut self, line: ShapeLine) -> Result<(), String> {
        if self.0.len() > MAX_POSITIONS {
            return Err(format!("the file contains more than {MAX_POSITIONS} shapes"));
        }
        let ShapeLine { nulls, bools, integers, numbers, strings, arrays, objects, deep } = line;
        let mut height = 0;
        let mut take_shape = |number: usize| {
            let taken = self.0.get_mut(number).and_then(Option::take);
            let (shape, below) = taken
                .ok_or_else(|| format!("shape {number} is not on an earlier line, or is referenced twice"))?;
            height = height.max(below + 1);
            Ok::<_, String>(shape)
        };
        let mut shape = Shape { deep, ..Shape::default() };
        for (to, count) in [
            (&mut shape.nulls, nulls),
            (&mut shape.bools, bools),
            (&mut shape.integers, integers),
            (&mut shape.numbers, numbers),
        ] {
            *to = check_count(count)?;
        }
        if let Some(StringsPart { count, formats, choices }) = strings {
            let choices = choices.map(|choices| {
                choices
                    .into_iter()
                    .map(|(word, count)| Ok((word, check_count(count)?)))
                    .collect::<Result<_, String>>()
            });
            let strings = Strings { count: check_count(count)?, formats, choices: choices.transpose()? };
            shape.strings.get_or_insert_default().join(strings);
        }
        if let Some(ArraysPart { count, elements }) = arrays {
            let elements = match elements {
                ElementsPart::Tuple(places) => {
                    Elements::Tuple(places.into_iter().map(&mut take_shape).collect::<Result<_, _>>()?)
                }
                ElementsPart::List(list) => Elements::List(Box::new(take_shape(list)?)),
            };
            shape.arrays = Some(Box::new(Arrays { count: check_count(count)?, elements }));
        }
        if let Some(ObjectsPart { loose, groups }) = objects {
            let mut group = |GroupPart { tag, count, fields, map }| {
                let tag = tag.map(|(key, value): (Box<str>, _)| {
                    Ok::<_, String>(Tag { key: tag_key_index(&key)?, value })
                });
                let mut field = |(key, count, number): (Box<str>, _, _)| {
                    Ok(Field { count: check_count(count)?, shape: take_shape(number)?, ..Field::new(&key) })
                };
                let list = fields.into_iter().map(&mut field).collect::<Result<Vec<_>, String>>()?;
                let fields = Fields::from_parts(list, map.map(&mut take_shape).transpose()?);
                Ok(Group { tag: tag.transpose()?, count: check_count(count)?, fields })
            };
            let groups = groups.into_iter().map(&mut group).collect::<Result<Vec<_>, String>>()?;
            let loose = loose.iter().map(|key| tag_key_index(key)).collect::<Result<Vec<_>, _>>()?;
            shape.objects = Some(Box::new(Objects::from_parts(&loose, groups)));
        }
        // Deeper values are not described.
        if height > MAX_DEPTH + 1 {
            return Err(format!("shapes are nested deeper than {MAX_DEPTH} levels"));
        }
        self.0.push(Some((shape, height)));
        Ok(())
    }

    /// Returns the last shape if it contains all other shapes of the file; `None` if a shape is unused or there is
    /// none.
    fn root(mut self) -> Option<Shape> {
        let (shape, _) = self.0.pop()??;
        self.0.iter().all(Option::is_none).then_some(shape)
    }
}

fn check_count(count: u64) -> Result<u64, String> {
    if count <= MAX_COUNT {
        Ok(count)
    } else {
        Err(format!("the count {count} exceeds the maximum of {MAX_COUNT}"))
    }
}

/// Returns the index of a key such as `type` in [`DISCRIMINATORS`].
fn tag_key_index(key: &str) -> Result<usize, String> {
    DISCRIMINATORS
        .iter()
        .position(|known| known.key == key)
        .ok_or_else(|| format!("`{key}` is not a tag key"))
}
