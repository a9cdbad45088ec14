//! The report: one HTML file that needs nothing else. First the answer and the table, then the plots, then everything
//! needed to repeat it and the data.

mod answer;
mod data;
mod exhibits;
mod failures;
mod measured;
mod plot;
mod repeat;
mod swept;
mod table;

use super::document::Document;
use super::palette;
use super::registry::PLOTS;
use plot::plots;

const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/script.js");

/// SHA-256 of the script: no other script may run. A test of the program checks it.
const SCRIPT_HASH: &str = "sha256-7IrB3CWG/NAe6rzM0PSpJSepm+fd2eQaJdZw/ta2wXs=";

/// The whole report.
pub fn html(document: &Document) -> String {
    let answer = answer::answer(document);
    let plots: String = PLOTS.iter().map(|entry| plots(entry.name, &(entry.draw)(document))).collect();
    let plots = match plots.as_str() {
        "" => String::new(),
        some => format!("<section class=\"pictures\"><h2>Pictures</h2>\n<div>{some}</div></section>\n"),
    };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src '{SCRIPT_HASH}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<title>{title}</title>\n\
         <style>\n{palette}{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <header><p class=\"kind\">Tailback report</p>\n<h1>{answer}</h1>\n{measured}{varied}</header>\n\
         {overview}{tables}{plots}{exhibits}{repeat}{data}</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n",
        title = answer::title(document),
        measured = measured::measured(document),
        varied = swept::measured(document),
        palette = palette::CSS,
        overview = exhibits::overview(document),
        tables = table::tables(document),
        exhibits = exhibits::exhibits(document),
        repeat = repeat::repeat(document),
        data = data::data(document),
    )
}
