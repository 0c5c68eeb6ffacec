// The client of CONTRACT.md on @modelcontextprotocol/sdk 1: 2025-11-25, over stdio and HTTP. This SDK does not speak 2026-07-28.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
    CreateMessageRequestSchema,
    ElicitRequestSchema,
    ErrorCode,
    ListRootsRequestSchema,
    LoggingMessageNotificationSchema,
    McpError,
    ResourceUpdatedNotificationSchema
} from '@modelcontextprotocol/sdk/types.js';
import { CAPABILITIES, parseArguments, printImpossible, ROOTS, runCases } from '../cases.mjs';

const { era, cases, url, command, args } = parseArguments();

const client = new Client({ name: 'ensemble-client', version: '1.0' }, { capabilities: CAPABILITIES });

const peer = {
    client,
    era,

    async call(name, args, { logLevel, ...options } = {}) {
        if (logLevel) await client.setLoggingLevel(logLevel);
        return client.callTool({ name, arguments: args }, undefined, options);
    },

    async list(what) {
        const lists = { tools: 'listTools', prompts: 'listPrompts', resourceTemplates: 'listResourceTemplates' };
        return (await pagesOf(lists[what], what)).flat();
    },

    pagesOfResources: () => pagesOf('listResources', 'resources'),

    subscribe: uri => client.subscribeResource({ uri }),

    // This SDK uses the same class for what it finds itself.
    isAnswer: error => error instanceof McpError && ![ErrorCode.RequestTimeout, ErrorCode.ConnectionClosed].includes(error.code)
};

async function pagesOf(list, what) {
    const pages = [];
    let cursor;
    do {
        const page = await client[list]({ cursor });
        pages.push(page[what]);
        cursor = page.nextCursor;
    } while (cursor !== undefined);
    return pages;
}

client.setRequestHandler(ElicitRequestSchema, ({ params }) => peer.onElicit(params));
client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => peer.onSample(params));
client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: ROOTS }));
client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => peer.onLog?.(params));
client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => peer.onUpdated?.(params));

if (era === 'modern') {
    printImpossible(cases, 'this SDK does not speak 2026-07-28');
} else {
    await client.connect(
        url ? new StreamableHTTPClientTransport(new URL(url)) : new StdioClientTransport({ command, args, env: process.env })
    );
    await runCases(cases, peer);
    await client.close();
}
