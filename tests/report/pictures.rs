//! The README's pictures are those that its commands make.
//!
//! `UPDATE_PICTURES=1 cargo test --test programs pictures` makes them anew.

use std::path::Path;

use crate::support::Folder;

#[test]
fn the_pictures_of_the_readme_are_those_that_its_commands_make() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let (_, section) = readme.split_once("\n## Pictures\n").expect("it has a section on pictures");
    let section = section.split("\n## ").next().unwrap();
    let commands: Vec<&str> = section.lines().filter_map(|line| line.strip_prefix("    loadgen ")).collect();

    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("docs/pictures")).unwrap();
    for command in &commands {
        folder.done(command);
    }
    let mut names: Vec<String> = std::fs::read_dir(folder.path("docs/pictures"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert!(names.len() >= 3, "{names:?} of {commands:?}");
    let update = std::env::var_os("UPDATE_PICTURES").is_some();
    for name in &names {
        let place = format!("docs/pictures/{name}");
        assert!(section.contains(&format!("<img src=\"{place}\"")), "`{name}` is not shown");
        let made = folder.read(&place);
        if update {
            std::fs::write(root.join(&place), &made).unwrap();
        }
        let current = std::fs::read_to_string(root.join(&place)).unwrap_or_default() == made;
        assert!(current, "`{place}` is not current: UPDATE_PICTURES=1 cargo test --test programs pictures");
    }
    let kept = std::fs::read_dir(root.join("docs/pictures")).unwrap().count();
    assert_eq!(kept, names.len(), "a picture that no command makes");
}
