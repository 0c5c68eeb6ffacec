// The server under test on the TypeScript SDK: --http PORT [--tools N], or --stdio. See CONTRACT.md.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import {
    localhostHostValidation,
    localhostOriginValidation,
    NodeStreamableHTTPServerTransport,
    toNodeHandler
} from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { flag } from './flags.mjs';
import { server } from './tools.mjs';

const fillers = Number(flag('--tools') ?? 0);

/** Sessions of 2025-11-25, each with a server and a transport of its own. */
function sessions() {
    const open = new Map();
    return async (request, response) => {
        const id = request.headers['mcp-session-id'];
        if (id !== undefined) {
            const transport = open.get(id);
            return transport ? transport.handleRequest(request, response) : response.writeHead(404).end();
        }
        const transport = new NodeStreamableHTTPServerTransport({
            sessionIdGenerator: randomUUID,
            onsessioninitialized: id => open.set(id, transport)
        });
        transport.onclose = () => open.delete(transport.sessionId);
        await server('legacy', fillers).connect(transport);
        await transport.handleRequest(request, response);
    };
}

function http(port) {
    const modern = toNodeHandler(createMcpHandler(context => server(context.era, fillers), { legacy: 'reject' }));
    const older = sessions();
    const known = [localhostHostValidation(), localhostOriginValidation()];
    const listener = createServer((request, response) => {
        if (!known.every(check => check(request, response))) return;
        const handle = request.headers['mcp-protocol-version'] === '2026-07-28' ? modern : older;
        Promise.resolve(handle(request, response)).catch(() => response.destroy());
    });
    // Connections stay open while others have their turn.
    listener.keepAliveTimeout = 60_000;
    listener.listen(port, '127.0.0.1');
}

const port = flag('--http');
if (port === undefined) {
    serveStdio(context => server(context.era, fillers));
} else {
    http(Number(port));
}
