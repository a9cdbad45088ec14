//! Config fields with their own notation, such as lists, rules and formulas.

/// Config field that parses and formats its own value.
///
/// The field can parse every text that it formats, so values from records and help texts can be used as input. Outside
/// of parentheses a value contains no comma and no plus sign, because commas separate options and plus signs separate
/// parts.
pub trait TextField {
    /// Parses the text into the field. On an error the field keeps its value.
    ///
    /// # Errors
    /// Describes what is wrong with the text, in half a sentence that names the wrong word.
    fn read(&mut self, text: &str) -> Result<(), String>;

    fn show(&self) -> String;

    /// Describes the accepted values of the field, in words that fit after "takes".
    fn accepted(&self) -> &'static str;
}
