//! Config fields with their own notation, such as lists, rules and formulas.

/// Config field that parses and formats its own value.
///
/// The field can parse every text that it formats. So a value can be copied from a recorded configuration or a help
/// text, and used as input. A value contains no comma and no plus sign outside of parentheses, because commas separate
/// options and plus signs separate parts.
pub trait TextField {
    /// Parses the text into the field. On an error the field keeps its value.
    ///
    /// # Errors
    /// Returns half a sentence that names the wrong word of the text and describes what is wrong with it.
    fn read(&mut self, text: &str) -> Result<(), String>;

    fn show(&self) -> String;

    /// Describes the accepted values of the field, in words that can follow "takes" in an error message.
    fn accepted(&self) -> &'static str;
}
