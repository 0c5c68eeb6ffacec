# Sourced by `run` and `count`: where things are built, and the command of each known server and
# client.
# shellcheck shell=bash

bench=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BENCH_DIR=${BENCH_DIR:-${TMPDIR:-/tmp}/antiphon-bench}

die() {
    echo "${0##*/}: $*" >&2
    exit 1
}

# What is built here is also run, so the directory must not be one that somebody else prepared.
prepare_dir() {
    if [[ ! -e $BENCH_DIR && ! -L $BENCH_DIR ]]; then
        (umask 077 && mkdir -p -- "$BENCH_DIR")
    fi
    [[ -d $BENCH_DIR && ! -L $BENCH_DIR && -O $BENCH_DIR ]] ||
        die "$BENCH_DIR is not a directory of yours; set BENCH_DIR to another"
    BENCH_DIR=$(cd "$BENCH_DIR" && pwd)
}

# Where cargo puts the workspace's programs.
target_directory() {
    (cd "$bench" && cargo metadata --no-deps --format-version 1 |
        sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
}

# The harness, and with it the server and the client on Antiphon, as fast as they can be.
build_harness() {
    (cd "$bench" && cargo build --quiet --profile speed -p antiphon-bench)
    own=$(target_directory)/speed
    harness=$own/antiphon-bench
}

# The tool, as it is released.
build_tool() {
    (cd "$bench" && cargo build --quiet --release -p antiphon-cli)
    tool=$(target_directory)/release/antiphon
}

# One package at a time: built together, each would get the features that another one asked for.
build_peer() {
    (cd "$bench/peers" && cargo build --quiet --release --locked --target-dir "$BENCH_DIR/target" -p "$1")
}

# command_of NAME: builds the server of that name if need be and sets `command`.
command_of() {
    local peers=$BENCH_DIR/target/release
    case $1 in
        bare | floor)
            build_peer limits
            command="$(printf %q "$peers/limits") $1"
            ;;
        rmcp)
            build_peer rmcp-server
            command=$(printf %q "$peers/rmcp-server")
            ;;
        antiphon)
            [[ -x $own/antiphon-bench-server ]] || die "antiphon-bench-server was not built"
            command=$(printf %q "$own/antiphon-bench-server")
            ;;
        *) die "no server is called $1; there are bare, floor, rmcp and antiphon" ;;
    esac
}

# client_command_of NAME: builds the client of that name if need be and sets `command`.
client_command_of() {
    case $1 in
        hyper)
            build_peer client-limits
            command=$(printf %q "$BENCH_DIR/target/release/hyper-client")
            ;;
        antiphon)
            [[ -x $own/antiphon-bench-client ]] || die "antiphon-bench-client was not built"
            command=$(printf %q "$own/antiphon-bench-client")
            ;;
        *) die "no client is called $1; there are hyper and antiphon" ;;
    esac
}

# Builds the server that clients are measured at and sets `command`.
partner_command() {
    build_peer client-limits
    command=$(printf %q "$BENCH_DIR/target/release/partner")
}
