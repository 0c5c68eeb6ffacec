# Sourced by `run` and `count`: where things are built, and the command of each known server and
# client.
# shellcheck shell=bash

bench=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# Everyone who can take part, in the order of the tables.
all_peers=bare,floor,antiphon,rmcp,tower,ts,py
all_clients=hyper,antiphon,rmcp,ts,py
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

# The harness, and with it the server, the client and the single parts of Antiphon, as fast as they can be.
build_harness() {
    local programs=(antiphon-bench{,-server,-client,-micro,-guard})
    (cd "$bench" && cargo build --quiet --profile speed -p antiphon-bench "${programs[@]/#/--bin=}")
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

# need PEER PROGRAM...: fails if one of the programs that a peer runs on is missing.
need() {
    local peer=$1 program
    shift
    for program in "$@"; do
        command -v "$program" >/dev/null ||
            die "$peer needs $program, which is not installed; name other peers with --peers and --clients"
    done
}

# The TypeScript SDK, at the versions of its lock file. Modules are looked for beside the file that
# imports them, so that the files go where the modules are.
install_node() {
    local folder=$BENCH_DIR/node
    need ts node npm
    mkdir -p "$folder"
    cp "$bench"/peers/node/*.mjs "$folder/"
    if ! cmp --silent "$bench/peers/node/package-lock.json" "$folder/installed"; then
        cp "$bench"/peers/node/package*.json "$folder/"
        (cd "$folder" && npm ci --silent --no-audit --no-fund) || die 'the TypeScript SDK was not installed'
        cp "$bench/peers/node/package-lock.json" "$folder/installed"
    fi
}

# The Python SDK, at the versions of its requirements.
install_python() {
    local folder=$BENCH_DIR/python wanted=$bench/peers/python/requirements.txt
    need py python3
    if ! cmp --silent "$wanted" "$folder/installed"; then
        python3 -m venv "$folder" || die 'no environment was made for the Python SDK'
        "$folder/bin/pip" install --quiet --disable-pip-version-check --requirement "$wanted" ||
            die 'the Python SDK was not installed'
        cp "$wanted" "$folder/installed"
    fi
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
        tower)
            build_peer tower-server
            command=$(printf %q "$peers/tower-server")
            ;;
        ts)
            install_node
            command="node $(printf %q "$BENCH_DIR/node/server.mjs")"
            ;;
        py)
            install_python
            command="$(printf '%q ' "$BENCH_DIR/python/bin/python" "$bench/peers/python/server.py")"
            ;;
        antiphon)
            [[ -x $own/antiphon-bench-server ]] || die "antiphon-bench-server was not built"
            command=$(printf %q "$own/antiphon-bench-server")
            ;;
        *) die "no server is called $1; there are ${all_peers//,/, }" ;;
    esac
}

# client_command_of NAME: builds the client of that name if need be and sets `command`.
client_command_of() {
    case $1 in
        hyper)
            build_peer client-limits
            command=$(printf %q "$BENCH_DIR/target/release/hyper-client")
            ;;
        rmcp)
            build_peer rmcp-client
            command=$(printf %q "$BENCH_DIR/target/release/rmcp-client")
            ;;
        ts)
            install_node
            command="node $(printf %q "$BENCH_DIR/node/client.mjs")"
            ;;
        py)
            install_python
            command="$(printf '%q ' "$BENCH_DIR/python/bin/python" "$bench/peers/python/client.py")"
            ;;
        antiphon)
            [[ -x $own/antiphon-bench-client ]] || die "antiphon-bench-client was not built"
            command=$(printf %q "$own/antiphon-bench-client")
            ;;
        *) die "no client is called $1; there are ${all_clients//,/, }" ;;
    esac
}

# Builds the server that clients are measured at and sets `command`.
partner_command() {
    build_peer client-limits
    command=$(printf %q "$BENCH_DIR/target/release/partner")
}
