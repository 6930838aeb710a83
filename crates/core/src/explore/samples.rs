//! The sample files that explored calls can read.

/// A sample file: its name in the workspace and its text.
#[derive(Debug, PartialEq, Eq)]
pub struct Sample {
    /// Name of the file.
    pub name: &'static str,
    /// Contents of the file.
    pub text: &'static str,
}

/// The samples, one for each common kind of file.
pub static SAMPLES: [Sample; 11] = [
    Sample {
        name: "agentnative-example.json",
        text: "{\"name\": \"agentnative-example\", \"items\": [{\"id\": 1}, {\"id\": 2}]}\n",
    },
    Sample { name: "agentnative-example.jsonl", text: "{\"id\": 1}\n{\"id\": 2}\n" },
    Sample {
        name: "agentnative-example.yaml",
        text: "name: agentnative-example\nitems:\n  - id: 1\n  - id: 2\n",
    },
    Sample { name: "agentnative-example.toml", text: "name = \"agentnative-example\"\n\n[items]\nid = 1\n" },
    Sample { name: "agentnative-example.csv", text: "id,name\n1,first\n2,second\n" },
    Sample {
        name: "agentnative-example.md",
        text: "# Example\n\nA paragraph with a [link](https://example.com).\n",
    },
    Sample { name: "agentnative-example.txt", text: "first line\nsecond line\n" },
    Sample {
        name: "agentnative-example.py",
        text: "def add(a, b):\n    return a + b\n\n\nprint(add(1, 2))\n",
    },
    Sample {
        name: "agentnative-example.js",
        text: "export function add(a, b) {\n  return a + b;\n}\n\nconsole.log(add(1, 2));\n",
    },
    Sample {
        name: "agentnative-example.html",
        text: "<!doctype html>\n<html lang=\"en\">\n<title>Example</title>\n<p>A paragraph.</p>\n</html>\n",
    },
    Sample {
        name: "agentnative-example.xml",
        text: "<?xml version=\"1.0\"?>\n<items><item id=\"1\"/><item id=\"2\"/></items>\n",
    },
];

/// Returns the names and contents of the samples.
pub fn sample_files() -> impl Iterator<Item = (&'static str, &'static [u8])> {
    SAMPLES.iter().map(|sample| (sample.name, sample.text.as_bytes()))
}
