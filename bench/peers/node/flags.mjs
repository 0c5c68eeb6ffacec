// The command line, of which every flag that is known takes a number or a text.

/** What follows this flag, if it was given. */
export function flag(name) {
    const at = process.argv.indexOf(name);
    return at < 0 ? undefined : process.argv[at + 1];
}
