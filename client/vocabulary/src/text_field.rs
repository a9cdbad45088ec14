//! Fields whose values have a notation of their own: lists, rules, formulas.

/// A field that reads and shows itself.
///
/// What it shows, it reads; so records and help texts can be typed again. Outside of parentheses a value holds no
/// comma and no plus sign: those part the options and the parts of what it stands in.
pub trait TextField {
    /// Sets it to what the text says; on an error it keeps its value.
    ///
    /// # Errors
    /// What is wrong with the text, in half a sentence that names the wrong word.
    fn read(&mut self, text: &str) -> Result<(), String>;

    /// Its value, as it would be typed.
    fn show(&self) -> String;

    /// What it accepts, in words that fit after "takes".
    fn accepted(&self) -> &'static str;
}
