//! A browser, in which tests open pages.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Returns the path of Chromium or Chrome, if it is installed.
fn chromium() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|path| path.is_file())
}

/// Returns a command that starts the browser with its profile in the given folder.
pub(super) fn call(profile: &std::path::Path, size: &str) -> Option<Command> {
    let Some(browser) = chromium() else {
        eprintln!("skipped: there is no chromium");
        return None;
    };
    let mut command = Command::new(browser);
    command
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"])
        .args(["--no-first-run", "--disable-extensions", "--disable-background-networking"])
        .arg(format!("--window-size={size}"))
        .arg(format!("--user-data-dir={}", profile.join("profile").display()));
    Some(command)
}

/// Opens a page and executes a script in it. Returns the result of the script, or `None` if there
/// is no browser. Panics if the page prints a message on the console.
pub(super) fn browse(page: &str, size: &str, hash: &str, script: &str) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let mut command = call(folder.path(), size)?;
    let path = folder.path().join("page.html");
    let ending = format!(
        "<script>addEventListener('load', () => setTimeout(() => {{ const at = (() => {{ {script} }})(); \
         document.body.replaceChildren('RESULT[' + at + ']'); }}, 100))</script></body>"
    );
    // The last `</body>` belongs to the page itself. Embedded pages end before it.
    let (before, after) = page.rsplit_once("</body>").unwrap();
    fs::write(&path, [before, &ending, after].concat()).unwrap();
    let output = command
        .args(["--enable-logging=stderr", "--virtual-time-budget=3000", "--dump-dom"])
        .arg(format!("file://{}#{hash}", path.display()))
        .output()
        .unwrap();
    let (dom, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let on_console: Vec<&str> = said.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(on_console.is_empty(), "{on_console:#?}");
    let result = dom.split_once("RESULT[").and_then(|(_, rest)| rest.rsplit_once(']'));
    let result = result.unwrap_or_else(|| panic!("{said}\n{dom}")).0;
    Some(result.replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&"))
}

/// Opens pages in frames of the given sizes, because a window of a browser has a minimum width. The script is executed
/// for each frame, whose window is `frame`. Returns the results, one for each line.
pub(super) fn browse_frames(pages: &[&str], sizes: &[(u32, u32)], script: &str) -> Option<String> {
    let mut all = String::from("<body>");
    for page in pages {
        let escaped = page.replace('&', "&amp;").replace('"', "&quot;");
        for (width, height) in sizes {
            let style = format!("width:{width}px;height:{height}px;border:0;display:block");
            all += &format!("<iframe style=\"{style}\" srcdoc=\"{escaped}\"></iframe>");
        }
    }
    all += "</body>";
    let script = format!(
        "return [...document.querySelectorAll('iframe')].map(box => {{ const frame = box.contentWindow; const page = frame.document; \
         {script} }}).join('\\n')"
    );
    browse(&all, "2000,1200", "", &script)
}
