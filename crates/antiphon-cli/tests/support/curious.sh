# A server of an older revision that asks for directories as soon as it may, and once more while its
# tools are listed. What it hears is in the file `heard`.
say() { echo "{\"jsonrpc\":\"2.0\",$1}"; }
answer() { id=${line#*\"id\":}; id=${id%%[,\}]*}; say "\"id\":$id,\"result\":{$1}"; }
while read -r line; do case $line in
    *'"method":"initialize"'*)
        answer '"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}';;
    *notifications/initialized*) say '"id":"early","method":"roots/list"';;
    *tools/list*)
        list=$line
        say '"id":"late","method":"roots/list"'
        while read -r line; do
            echo "$line" >> heard
            case $line in *'"late"'*) break;; esac
        done
        line=$list
        answer '"tools":[{"name":"look","inputSchema":{"type":"object","properties":{"at":{"type":"string"}}}}]';;
    *'"method":"ping"'*) answer '';;
    *tools/call*) answer '"content":[{"type":"text","text":"looked"}]';;
    *'"id"'*) echo "$line" >> heard;;
esac; done
