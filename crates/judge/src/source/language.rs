//! One row per language: its files, and which of them are not part of the program.

use agentnative_core::model::Language;
use ast_grep_language::SupportLang;

/// The properties of a language. Paths are patterns as in a `.gitignore` at the root of the package. Rules are in the
/// YAML format of ast-grep.
pub(super) struct LanguageRow {
    pub language: Language,
    /// File extensions, each with its grammar. Files with a `#!` line have the last grammar.
    pub grammars: &'static [(&'static str, SupportLang)],
    /// Interpreters in `#!` lines of this language, such as `python`.
    pub interpreters: &'static [&'static str],
    /// Patterns of files for tests and for the build.
    pub non_product: &'static [&'static str],
    /// Patterns of generated files.
    pub generated: &'static [&'static str],
    /// Patterns of files in which a program starts and ends, such as `main.go`.
    pub entry_files: &'static [&'static str],
    /// Rule that matches code in which a program starts and ends, such as the function `main`.
    pub entry: &'static str,
    /// Rule that matches tests in files that belong to the program.
    pub tests: Option<&'static str>,
    /// Rule that matches code that makes a file a program if no manifest declares an entry: its `#!` line, and code
    /// that only runs if the file is executed directly. If the program has another entry, such code is not part of it.
    pub program: Option<&'static str>,
}

pub(super) const ROWS: [LanguageRow; 4] = [
    LanguageRow {
        language: Language::Rust,
        grammars: &[("rs", SupportLang::Rust)],
        interpreters: &[],
        non_product: &["build.rs", "test.rs", "tests.rs", "*_test.rs", "*_tests.rs", "test_*.rs"],
        generated: &["*.pb.rs"],
        entry_files: &["/main.rs", "/src/main.rs", "/src/bin/*.rs", "/src/bin/*/main.rs"],
        entry: "{kind: function_item, has: {field: name, regex: '^main$'}}",
        tests: Some(
            r"{any: [{kind: mod_item}, {kind: function_item}, {kind: impl_item}, {kind: macro_definition}],
               follows: {kind: attribute_item,
                 regex: '^#\[(cfg\((test\b|(all|any)\([^)]*\btest\b)|([a-z_]+::)*(test|bench|rstest|proptest)\b)',
                 stopBy: {not: {any: [{kind: attribute_item}, {kind: line_comment}]}}}}",
        ),
        program: None,
    },
    LanguageRow {
        language: Language::Python,
        grammars: &[("py", SupportLang::Python)],
        interpreters: &["python"],
        non_product: &[
            "test_*.py",
            "*_test.py",
            "tests.py",
            "conftest.py",
            "/setup.py",
            "/noxfile.py",
            "/fabfile.py",
            "/tasks.py",
            "__pyinstaller/",
        ],
        generated: &["*_pb2.py", "*_pb2_grpc.py", "_version.py"],
        entry_files: &["__main__.py"],
        entry: "{any: [{kind: if_statement, regex: '^if \\(?__name__ *=='},
                       {kind: function_definition, has: {field: name, regex: '^_?main$'}}]}",
        tests: Some(
            "{any: [{kind: function_definition, has: {field: name, regex: '^test_'}},
                    {kind: class_definition, has: {field: superclasses, regex: 'TestCase'}}]}",
        ),
        program: Some(
            "{any: [{kind: comment, nthChild: 1, regex: '^#!', inside: {kind: module}},
                    {kind: if_statement, regex: '^if \\(?__name__ *=='}]}",
        ),
    },
    LanguageRow {
        language: Language::Go,
        grammars: &[("go", SupportLang::Go)],
        interpreters: &[],
        non_product: &["*_test.go", "magefile.go", "/helpers/", "/misc/"],
        generated: &["*.pb.go", "*.gen.go", "*_generated.go", "zz_generated*.go"],
        entry_files: &["main.go"],
        entry: "{any: [{kind: source_file, has: {kind: package_clause, regex: '^package +main$'}},
                       {kind: function_declaration, has: {field: name, regex: '^(main|Main|Execute)$'}}]}",
        tests: None,
        program: None,
    },
    LanguageRow {
        language: Language::TypeScript,
        grammars: &[
            ("ts", SupportLang::TypeScript),
            ("mts", SupportLang::TypeScript),
            ("cts", SupportLang::TypeScript),
            ("tsx", SupportLang::Tsx),
            ("jsx", SupportLang::Tsx),
            ("js", SupportLang::Tsx),
            ("mjs", SupportLang::Tsx),
            ("cjs", SupportLang::Tsx),
        ],
        interpreters: &["node", "bun", "deno"],
        non_product: &[
            "*.test.*",
            "*.spec.*",
            "*.stories.*",
            "*.bench.*",
            "*.config.*",
            "*.conf.*",
            "*rc.js",
            "*rc.cjs",
            "[Gg]ulpfile.*",
            "[Gg]runtfile.*",
            "/test.*",
            "/benchmark.*",
        ],
        generated: &["*.d.ts", "*.d.mts", "*.d.cts", "*.min.js"],
        entry_files: &["cli.*", "main.*", "bin.*", "bin/"],
        entry: "{any: [{kind: program, has: {kind: hash_bang_line}},
                       {kind: function_declaration, has: {field: name, regex: '^main$'}}]}",
        tests: None,
        program: None,
    },
];

pub(super) fn language_row(language: Language) -> &'static LanguageRow {
    &ROWS[language as usize]
}

/// Returns the language and the grammar of a file according to the extension of its name.
pub(super) fn by_name(name: &str) -> Option<(Language, SupportLang)> {
    let extension = name.rsplit_once('.')?.1;
    ROWS.iter().find_map(|row| {
        let grammar = row.grammars.iter().find(|(known, _)| *known == extension)?.1;
        Some((row.language, grammar))
    })
}

/// Returns the language and the grammar of a file whose first bytes are `head`, according to the interpreter in its
/// `#!` line.
pub(super) fn by_shebang(head: &[u8]) -> Option<(Language, SupportLang)> {
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    let version = |c: char| c.is_ascii_digit() || c == '.';
    let mut words = line.split(['/', ' ', '\t', '\r']).map(|word| word.trim_end_matches(version));
    words.find_map(|word| {
        let row = ROWS.iter().find(|row| row.interpreters.contains(&word))?;
        Some((row.language, row.grammars.last()?.1))
    })
}
