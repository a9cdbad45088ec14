//! A terminal emulator with just the features that the dashboard uses. It panics at all other escape codes.

/// Columns and rows of the terminal.
pub(crate) const SIZE: (u16, u16) = (80, 24);

const ESCAPE: u8 = 0x1b;

#[derive(Clone, Debug)]
pub(crate) struct Screen {
    /// Text on the normal screen, which scrolls and stays.
    pub(crate) normal: String,
    pub(crate) alternate: bool,
    pub(crate) entered: usize,
    pub(crate) cursor_shown: bool,
    /// Number of attempts to draw on the normal screen.
    pub(crate) strays: usize,
    pub(crate) codes: usize,
    /// Number of codes that set a colour or style.
    pub(crate) styles: usize,
    /// Content of the alternate screen.
    cells: Vec<Vec<char>>,
    row: usize,
    column: usize,
    /// First bytes of an incomplete character or code.
    pending: Vec<u8>,
}

impl Screen {
    pub(crate) fn new() -> Self {
        Self {
            normal: String::new(),
            alternate: false,
            entered: 0,
            cursor_shown: true,
            strays: 0,
            codes: 0,
            styles: 0,
            cells: blank(),
            row: 0,
            column: 0,
            pending: Vec::new(),
        }
    }

    /// Returns the lines of the alternate screen, or none while the normal screen is shown.
    pub(crate) fn lines(&self) -> Vec<String> {
        let cells = if self.alternate { &self.cells[..] } else { &[] };
        cells.iter().map(|row| row.iter().collect()).collect()
    }

    pub(crate) fn shows(&self, words: &str) -> bool {
        self.lines().iter().any(|line| line.contains(words))
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
        while let Some(length) = self.whole() {
            let token: Vec<u8> = self.pending.drain(..length).collect();
            let text = std::str::from_utf8(&token).expect("the terminal gets UTF-8");
            match text.strip_prefix('\u{1b}') {
                Some(code) => self.code(code),
                None => text.chars().for_each(|character| self.put(character)),
            }
        }
    }

    /// Returns the length of the first character or code, if it is complete.
    fn whole(&self) -> Option<usize> {
        let length = match *self.pending.first()? {
            ESCAPE => {
                let end = self.pending.iter().skip(2).position(|byte| (0x40..=0x7e).contains(byte));
                end? + 3
            }
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xff => 4,
            _ => 1,
        };
        (self.pending.len() >= length).then_some(length)
    }

    fn code(&mut self, code: &str) {
        self.codes += 1;
        match code {
            "[?1049h" => {
                (self.alternate, self.cells) = (true, blank());
                self.entered += 1;
            }
            "[?1049l" => self.alternate = false,
            "[?25h" => self.cursor_shown = true,
            "[?25l" => self.cursor_shown = false,
            "[2J" => {
                self.cells = blank();
                self.strays += usize::from(!self.alternate);
            }
            // A line that is redrawn.
            "[2K" if !self.alternate => {
                let kept = self.normal.rfind('\n').map_or(0, |end| end + 1);
                self.normal.truncate(kept);
            }
            _ if code.ends_with('m') => self.styles += 1,
            _ => self.go_to(code).unwrap_or_else(|| panic!("a code that tests don't know: {code:?}")),
        }
    }

    /// Moves the cursor. Escape codes count from one.
    fn go_to(&mut self, code: &str) -> Option<()> {
        let (row, column) = code.strip_prefix('[')?.strip_suffix('H')?.split_once(';')?;
        self.strays += usize::from(!self.alternate);
        (self.row, self.column) = (row.parse::<usize>().ok()? - 1, column.parse::<usize>().ok()? - 1);
        Some(())
    }

    fn put(&mut self, character: char) {
        if !self.alternate {
            self.normal.extend(Some(character).filter(|&character| character != '\r'));
            return;
        }
        let cell = self.cells.get_mut(self.row).and_then(|row| row.get_mut(self.column));
        *cell.expect("nothing is drawn outside of the screen") = character;
        self.column += 1;
    }
}

fn blank() -> Vec<Vec<char>> {
    vec![vec![' '; SIZE.0.into()]; SIZE.1.into()]
}
