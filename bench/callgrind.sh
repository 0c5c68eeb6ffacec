# Sourced by what counts instructions with callgrind.
# shellcheck shell=bash

need_valgrind() {
    command -v valgrind >/dev/null || die "valgrind is needed and not installed"
}

# instructions_in FILE: prints what a profile of callgrind counted, if it did.
instructions_in() {
    awk '/^(summary|totals):/ { n = $2 } END { print n }' "$1"
}

# How often a part is repeated.
times=400

# count_part NAME: sets `instructions`, `allocations` and `bytes` of one benchmark of
# antiphon-bench-micro, each for one operation. Only what it does inside `counted` counts; the profile stays, for
# callgrind_annotate. An empty environment keeps the stack where it is, whoever runs this.
count_part() {
    local profiles=$BENCH_DIR/profiles file said
    mkdir -p "$profiles"
    file=$profiles/micro.${1//[^A-Za-z0-9_.-]/_}.callgrind
    rm -f "$file"
    said=$(env -i "$(command -v valgrind)" --tool=callgrind --toggle-collect='*meter::counted*' \
        --callgrind-out-file="$file" --log-file=/dev/null "$own/antiphon-bench-micro" "$1" $times) ||
        die "$1 fails"
    read -r allocations bytes <<<"$said"
    instructions=$(instructions_in "$file")
    [[ $instructions ]] || die "no instructions were counted for $1"
    instructions=$(((instructions + times / 2) / times))
    allocations=$(((allocations + times / 2) / times))
    bytes=$(((bytes + times / 2) / times))
}
