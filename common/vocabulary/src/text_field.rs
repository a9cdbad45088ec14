//! Fields with a notation of their own: lists, rules, formulas.

/// Field that parses and formats its own value.
///
/// The field can parse every text that it formats, so values in records and help texts can be given again. Outside of
/// parentheses a value has no comma and no plus sign, because these separate options and parts.
pub trait TextField {
    /// Parses the text into the field; on an error the field keeps its value.
    ///
    /// # Errors
    /// The fault in the text, in half a sentence that names the wrong word.
    fn read(&mut self, text: &str) -> Result<(), String>;

    fn show(&self) -> String;

    /// Describes the accepted values, in words that fit after "takes".
    fn accepted(&self) -> &'static str;
}
