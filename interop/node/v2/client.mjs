// The client of CONTRACT.md on @modelcontextprotocol/client 2: 2026-07-28 and 2025-11-25, over stdio and HTTP.
import { Client, LOG_LEVEL_META_KEY, ProtocolError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { CAPABILITIES, parseArguments, ROOTS, runCases } from '../cases.mjs';

const { era, cases, url, command, args } = parseArguments();

const client = new Client(
    { name: 'ensemble-client', version: '1.0' },
    { capabilities: CAPABILITIES, versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' } }
);

const peer = {
    client,
    era,

    async call(name, args, { logLevel, ...options } = {}) {
        const params = { name, arguments: args };
        if (logLevel && era === 'modern') params._meta = { [LOG_LEVEL_META_KEY]: logLevel };
        if (logLevel && era === 'legacy') await client.setLoggingLevel(logLevel);
        return client.callTool(params, options);
    },

    async list(what) {
        const lists = { tools: 'listTools', prompts: 'listPrompts', resourceTemplates: 'listResourceTemplates' };
        return (await client[lists[what]]())[what];
    },

    // `listResources` would put the pages together.
    async pagesOfResources() {
        const pages = [];
        let cursor;
        do {
            const page = await client.request({ method: 'resources/list', params: { cursor } });
            pages.push(page.resources);
            cursor = page.nextCursor;
        } while (cursor !== undefined);
        return pages;
    },

    async subscribe(uri) {
        if (era === 'modern') await client.listen({ resourceSubscriptions: [uri] });
        else await client.subscribeResource({ uri });
    },

    isAnswer: error => error instanceof ProtocolError
};

client.setRequestHandler('elicitation/create', ({ params }) => peer.onElicit(params));
client.setRequestHandler('sampling/createMessage', ({ params }) => peer.onSample(params));
client.setRequestHandler('roots/list', () => ({ roots: ROOTS }));
client.setNotificationHandler('notifications/message', ({ params }) => peer.onLog?.(params));
client.setNotificationHandler('notifications/resources/updated', ({ params }) => peer.onUpdated?.(params));

await client.connect(
    url ? new StreamableHTTPClientTransport(new URL(url)) : new StdioClientTransport({ command, args, env: process.env })
);
await runCases(cases, peer);
await client.close();
