//! The source beside a derivative: lines with the facts about them, by function and line.

use super::html::{anchor, escaped, link, range_link};
use super::sources::{Sources, expression};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use zymase_core::diagnostic::{Link, Place};
use zymase_core::report::{CalledBy, Fact, How, Lines, LoopName, Records, Report, Trips, What};

/// How many lines without facts are shown before and after those with facts.
const BEFORE: u32 = 2;
const AFTER: u32 = 1;

/// The facts of a report, in order.
pub struct Annotated<'a> {
    number: usize,
    report: &'a Report,
    /// By file and function, the lines to be shown with their facts.
    parts: BTreeMap<(String, String), BTreeMap<u32, Vec<&'a Fact>>>,
    /// Facts without a place.
    nowhere: Vec<&'a Fact>,
}

/// The class of a fact, which gives it its colour. The first of these that a line has is the line's.
const CLASSES: [&str; 8] = [
    "cached",
    "kept",
    "check",
    "reloaded",
    "recomputed",
    "call",
    "loop",
    "active",
];

/// The class of a fact.
pub fn fact_class(fact: &Fact) -> &'static str {
    match &fact.what {
        What::Active(_) => "active",
        What::Loop(_) | What::Nest(_) | What::Search(_) => "loop",
        What::Unraised(..) | What::Seen(..) => "loop",
        What::Call(_) => "call",
        What::Check(_) => "check",
        // Bytes that are in use for longer are as good as cached.
        What::Kept(_) => "cached",
        What::Value(value) => match value.how {
            How::Cached => "cached",
            How::Kept => "kept",
            How::Recomputed => "recomputed",
            How::Reloaded => "reloaded",
        },
    }
}

fn rank(class: &str) -> usize {
    let position = CLASSES.iter().position(|known| *known == class);
    position.unwrap_or(CLASSES.len())
}

impl<'a> Annotated<'a> {
    /// Sorts the facts of a report; `number` is that of the report on the page.
    pub fn new(number: usize, report: &'a Report) -> Annotated<'a> {
        let mut annotated = Annotated {
            number,
            report,
            parts: BTreeMap::new(),
            nowhere: Vec::new(),
        };
        for fact in &report.facts {
            match fact.places.first() {
                Some(place) => annotated.lines(place).push(fact),
                None => annotated.nowhere.push(fact),
            }
            // Lines that are linked to must be there.
            for place in mentioned(fact) {
                annotated.lines(place);
            }
            for place in fact.places.iter().skip(1) {
                annotated.lines(place);
            }
            for place in lines_of(fact).iter().flat_map(|lines| lines.places()) {
                annotated.lines(&place);
            }
        }
        annotated
    }

    fn lines(&mut self, place: &Place) -> &mut Vec<&'a Fact> {
        let part = (place.file.clone(), place.function.clone());
        let lines = self.parts.entry(part).or_default();
        lines.entry(place.line).or_default()
    }

    /// Writes all of it, the function itself first.
    pub fn write(&self, page: &mut String, sources: &Sources) {
        let own = self.report.place.as_ref();
        let own = own.map(|place| (place.file.clone(), place.function.clone()));
        let mut parts: Vec<_> = self.parts.iter().collect();
        parts.sort_by_key(|(part, lines)| {
            let other_file = own.as_ref().is_some_and(|own| own.0 != part.0);
            let first = lines.keys().next().copied();
            (
                Some(*part) != own.as_ref(),
                other_file,
                part.0.clone(),
                first,
            )
        });
        for ((file, function), lines) in parts {
            let is_own = own.as_ref() == Some(&(file.clone(), function.clone()));
            let near = own.as_ref().is_none_or(|(own, _)| own == file);
            let open = if near { " open=\"open\"" } else { "" };
            let inlined = if is_own { "" } else { ", inlined" };
            let _ = writeln!(
                page,
                "<details class=\"part\"{open}><summary><h3><code>{}</code> \
                 <span class=\"quiet\">{}{inlined}</span></h3></summary>",
                escaped(function),
                escaped(file)
            );
            self.part(page, file, function, lines, sources);
            page.push_str("</details>\n");
        }
        if !self.nowhere.is_empty() {
            page.push_str("<h3>Without a line</h3>\n");
            page.push_str("<div class=\"lines\">");
            self.facts(page, &self.nowhere, None);
            page.push_str("</div>\n");
        }
    }

    fn part(
        &self,
        page: &mut String,
        file: &str,
        function: &str,
        lines: &BTreeMap<u32, Vec<&Fact>>,
        sources: &Sources,
    ) {
        let around = |&line: &u32| line.saturating_sub(BEFORE).max(1)..=line + AFTER;
        let shown: BTreeSet<u32> = lines.keys().flat_map(around).collect();
        // Empty lines are no context, nor is what lies behind the end of the file.
        let blank = |line: &u32| {
            let text = sources.line(file, *line);
            !lines.contains_key(line) && text.is_none_or(|text| text.trim().is_empty())
        };
        let is_inside = |line: &u32| shown.contains(&(line - 1)) && shown.contains(&(line + 1));
        page.push_str("<div class=\"lines\">\n");
        let mut last = None;
        for &line in shown.iter().filter(|l| !blank(l) || is_inside(l)) {
            let text = sources.line(file, line);
            let facts = lines.get(&line).map_or(&[][..], Vec::as_slice);
            if last.is_some_and(|last| last + 1 < line) {
                page.push_str("<div class=\"gap\">⋯</div>\n");
            }
            last = Some(line);
            let place = Place {
                file: file.to_string(),
                line,
                column: 0,
                function: function.to_string(),
                link: Link::Inlined,
            };
            let class = facts
                .iter()
                .map(|fact| fact_class(fact))
                .min_by_key(|c| rank(c));
            let _ = write!(
                page,
                "<div class=\"line {}{}\" id=\"{}\"><span class=\"number\">{line}</span>\
                 <pre class=\"source\">{}</pre>",
                class.unwrap_or_default(),
                if facts.is_empty() { "" } else { " told" },
                anchor(self.number, &place),
                marked(text.as_deref().unwrap_or_default(), facts)
            );
            self.facts(page, facts, text.as_deref());
            page.push_str("</div>\n");
        }
        page.push_str("</div>\n");
    }

    /// What there is to say of a line. What is active is said at once.
    fn facts(&self, page: &mut String, facts: &[&Fact], line: Option<&str>) {
        page.push_str("<ul class=\"facts\">");
        let mut sorted: Vec<&&Fact> = facts.iter().collect();
        sorted.sort_by_key(|fact| (rank(fact_class(fact)), column(fact)));
        let mut active: Vec<String> = Vec::new();
        let mut addresses = 0;
        let mut sentences: Vec<(&str, String, Vec<&Fact>)> = Vec::new();
        for fact in sorted {
            match &fact.what {
                What::Active(what) => {
                    let what = escaped(what);
                    if !active.contains(&what) {
                        active.push(what);
                    }
                }
                What::Value(value) if value.how == How::Recomputed && !value.is_number => {
                    addresses += 1;
                }
                _ => {
                    let sentence = self.sentence(fact, line);
                    match sentences
                        .iter_mut()
                        .find(|(_, known, _)| *known == sentence)
                    {
                        Some((_, _, facts)) => facts.push(fact),
                        None => sentences.push((fact_class(fact), sentence, vec![fact])),
                    }
                }
            }
        }
        for (class, sentence, facts) in sentences {
            let _ = write!(
                page,
                "<li class=\"{class}-fact\">{sentence}{}</li>",
                self.copies(&facts)
            );
        }
        if addresses > 0 {
            let what = if addresses == 1 {
                "address or index"
            } else {
                "addresses and indices"
            };
            let _ = write!(
                page,
                "<li class=\"recomputed-fact\"><span class=\"tag recomputed\">recomputed</span> \
                 {addresses} {what}</li>"
            );
        }
        if !active.is_empty() {
            let _ = write!(
                page,
                "<li class=\"active-fact\"><span class=\"tag active\">active</span> {}</li>",
                active.join(", ")
            );
        }
        page.push_str("</ul>");
    }

    /// How often there is a fact, and where it was inlined.
    fn copies(&self, facts: &[&Fact]) -> String {
        let mut text = String::new();
        if facts.len() > 1 {
            let _ = write!(text, " <b>×{}</b>", facts.len());
        }
        let mut calls: Vec<String> = Vec::new();
        for place in facts.iter().filter_map(|fact| fact.places.get(1)) {
            let call = self.link(place);
            if !calls.contains(&call) {
                calls.push(call);
            }
        }
        if !calls.is_empty() {
            let _ = write!(
                text,
                " <span class=\"why\">(inlined at {})</span>",
                calls.join(", ")
            );
        }
        text
    }

    fn sentence(&self, fact: &Fact, line: Option<&str>) -> String {
        let class = fact_class(fact);
        let tag = |text: &str| format!("<span class=\"tag {class}\">{text}</span>");
        match &fact.what {
            What::Active(what) => format!("{} {}", tag("active"), escaped(what)),
            What::Loop(l) => {
                let mut text = tag("loop");
                let _ = match l.trips {
                    Trips::Constant(n) => write!(text, " always runs {n} times"),
                    Trips::Before => write!(text, " counted before it begins"),
                    Trips::After => write!(text, " counted while it runs"),
                };
                if l.exits > 1 {
                    let _ = write!(text, ", left from {} places", l.exits);
                }
                let bytes = l.bytes;
                let _ = match &l.records {
                    Records::None => write!(text, ", nothing kept of an iteration"),
                    Records::Inside => {
                        write!(text, ", {bytes} bytes per iteration on the tape around it")
                    }
                    Records::Growing => {
                        write!(text, ", {bytes} bytes per iteration on a tape that grows")
                    }
                    Records::Before(root) => write!(
                        text,
                        ", {bytes} bytes per iteration, allocated before {}",
                        self.loop_link(root)
                    ),
                };
                text
            }
            What::Nest(nest) => {
                let lines = self.range(nest.lines.as_ref());
                format!("{}{lines}: {}", tag("nest"), escaped(&nest.to_string()))
            }
            What::Search(lines) => {
                let only = "only the iteration that has found it is differentiated";
                let lines = self.range(lines.as_ref());
                format!("{}{lines} searches for a number: {only}", tag("loop"))
            }
            What::Unraised(lines, why) => {
                let lines = self.range(lines.as_ref());
                format!("{}{lines} stays a loop: {why}", tag("loop"))
            }
            What::Seen(lines, shape) => {
                let lines = self.range(lines.as_ref());
                format!("{}{lines}: {}, as a loop", tag("loop"), escaped(shape))
            }
            What::Call(call) => {
                let how = match (call.apart, call.by) {
                    (true, _) => "leads back to itself, so its frame is apart",
                    (_, CalledBy::Body) => "is split into two sweeps",
                    (_, CalledBy::Rule) => "has a derivative of the program's",
                    (_, CalledBy::LinearAlgebra) => "has a derivative by linear algebra",
                    (_, CalledBy::Replay) => "keeps nothing, both sweeps run when it is reversed",
                    (_, CalledBy::Early) => "keeps nothing, its adjoint is known before it runs",
                };
                let callee = escaped(&call.callee);
                let bytes = bytes(call.bytes, self.per(call.per.as_ref(), call.bytes));
                let bytes = if call.bytes == 0 {
                    String::new()
                } else {
                    format!(", {bytes}")
                };
                format!("{} of <code>{callee}</code> {how}{bytes}", tag("call"))
            }
            What::Check(by) => {
                let by = by.as_ref().map(|by| self.link(by));
                let by = by.map_or(String::new(), |by| format!(" at {by}"));
                format!(
                    "{} when it is called: what is read here does not overlap what is written{by}",
                    tag("checked")
                )
            }
            What::Kept(kept) => {
                let size = kept.bytes.map_or(String::new(), |count| {
                    format!(", {}", bytes(count, String::new()))
                });
                let per = kept.per.as_ref().map_or(String::new(), |l| {
                    format!(" in each iteration of {}", self.loop_link(l))
                });
                let freed = kept.freed.as_ref().map_or(String::new(), |freed| {
                    format!(", instead of being freed at {}", self.link(freed))
                });
                format!(
                    "{} until the reverse sweep: the memory that is allocated here{size}{per}{freed}",
                    tag("kept")
                )
            }
            What::Value(value) => {
                let name = line.and_then(|line| written(line, fact));
                let name = match name.or(value.name.as_deref()) {
                    Some(text) => format!("<code>{}</code> ", escaped(text)),
                    None => String::new(),
                };
                let mut text = format!(
                    "{} {name}{} <span class=\"why\">{}</span>",
                    tag(value.how.name()),
                    escaped(&value.what),
                    escaped(&value.ty)
                );
                if value.bytes > 0 {
                    let per = self.per(value.per.as_ref(), value.bytes);
                    let _ = write!(text, ", {}{}", bytes(value.bytes, per), value.when());
                }
                if !value.why.before.is_empty() {
                    let by = value.why.by.as_ref();
                    let by = by.map_or(String::new(), |by| format!(" at {}", self.link(by)));
                    let after = match value.why.after {
                        "" => String::new(),
                        after => format!(" {after}"),
                    };
                    let _ = write!(
                        text,
                        ": <span class=\"why\">{}{by}{after}</span>",
                        value.why.before
                    );
                }
                text
            }
        }
    }

    fn per(&self, l: Option<&LoopName>, bytes: u64) -> String {
        match l {
            Some(l) if bytes > 0 => format!(" per iteration of {}", self.loop_link(l)),
            _ => " per call".to_string(),
        }
    }

    fn link(&self, place: &Place) -> String {
        link(self.number, self.report, place)
    }

    /// ` of lines 3 to 7`, with a link to the first of them.
    fn range(&self, lines: Option<&Lines>) -> String {
        let link = lines.map(|lines| range_link(self.number, lines));
        link.map_or(String::new(), |link| format!(" of {link}"))
    }

    fn loop_link(&self, l: &LoopName) -> String {
        match &l.place {
            Some(place) => format!("the loop at {}", self.link(place)),
            None => format!("the loop at {}", escaped(&l.name)),
        }
    }
}

fn bytes(count: u64, per: String) -> String {
    let unit = if count == 1 { "byte" } else { "bytes" };
    format!("{count} {unit}{per}")
}

fn column(fact: &Fact) -> u32 {
    fact.places.first().map_or(0, |place| place.column)
}

/// The lines of the loops that a fact is about.
fn lines_of(fact: &Fact) -> Option<&Lines> {
    match &fact.what {
        What::Nest(nest) => nest.lines.as_ref(),
        What::Search(lines) | What::Unraised(lines, _) | What::Seen(lines, _) => lines.as_ref(),
        _ => None,
    }
}

/// The places that a fact mentions beside its own.
fn mentioned(fact: &Fact) -> Vec<&Place> {
    match &fact.what {
        What::Active(_) | What::Nest(_) | What::Search(_) => Vec::new(),
        What::Unraised(..) | What::Seen(..) => Vec::new(),
        What::Loop(l) => match &l.records {
            Records::Before(root) => root.place.iter().collect(),
            Records::None | Records::Inside | Records::Growing => Vec::new(),
        },
        What::Call(call) => call.per.iter().filter_map(|l| l.place.as_ref()).collect(),
        What::Check(by) => by.iter().collect(),
        What::Kept(kept) => {
            let per = kept.per.iter().filter_map(|l| l.place.as_ref());
            per.chain(&kept.freed).collect()
        }
        What::Value(value) => {
            let per = value.per.iter().filter_map(|l| l.place.as_ref());
            per.chain(&value.why.by).collect()
        }
    }
}

/// The expression that a fact about a value is about.
fn written<'l>(line: &'l str, fact: &Fact) -> Option<&'l str> {
    expression(line, column(fact)).map(|range| &line[range])
}

/// A line in which expressions have the colours of the facts about them. Where several claim a
/// character, the first class wins.
fn marked(line: &str, facts: &[&Fact]) -> String {
    let mut classes: Vec<usize> = vec![CLASSES.len(); line.len()];
    for fact in facts {
        if let What::Value(value) = &fact.what
            && (value.is_number || value.how != How::Recomputed)
            && let Some(range) = expression(line, column(fact))
        {
            let rank = rank(fact_class(fact));
            for class in &mut classes[range] {
                *class = rank.min(*class);
            }
        }
    }
    let mut html = String::new();
    let mut start = 0;
    while start < line.len() {
        let class = classes[start];
        let length = classes[start..].iter().take_while(|c| **c == class).count();
        let text = escaped(&line[start..start + length]);
        match CLASSES.get(class) {
            Some(class) => {
                let _ = write!(html, "<span class=\"{class}\">{text}</span>");
            }
            None => html.push_str(&text),
        }
        start += length;
    }
    html
}
