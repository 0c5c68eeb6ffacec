// The server of CONTRACT.md on @modelcontextprotocol/sdk 1: 2025-11-25 and older, on stdio and HTTP.
//
// Left out: 2026-07-28, which this SDK does not speak, and with it the state of `wait`, which answers at once.
import { createServer } from 'node:http';
import { randomUUID } from 'node:crypto';
import { completable } from '@modelcontextprotocol/sdk/server/completable.js';
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { ListResourcesRequestSchema, SubscribeRequestSchema, UnsubscribeRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import {
    contents, FORMS, greeting, ITEMS, memory, NAME, NOTE, pageOfResources, REFUSALS, serverPort, SIGN_IN, sleep, slept, STYLES, sumUp,
    text, userSays, VERSION
} from '../shared.mjs';

// What tells somebody that the note has changed.
const listeners = new Set();

/** A server of one connection. */
function build() {
    const server = new McpServer({ name: NAME, version: VERSION }, { capabilities: { logging: {}, resources: { subscribe: true } } });
    const asker = askerOf(server);
    plainTools(server);
    askingTools(server, asker);
    prompts(server, asker);
    resources(server, asker);
    return server;
}

/** The requests of the server, each on the stream of the call it belongs to. */
function askerOf({ server }) {
    const of = extra => ({ relatedRequestId: extra.requestId });
    const elicit = (params, extra) => server.elicitInput(params, of(extra));
    return {
        elicit,
        sample: (params, extra) => server.createMessage(params, of(extra)),
        roots: async extra => (await server.listRoots({}, of(extra))).roots,

        /** What a form was filled in with. Who declines or cancels gets an error. */
        async filledIn(form, extra) {
            const { action, content } = await elicit(form, extra);
            if (action !== 'accept') throw new Error(REFUSALS[action]);
            return content;
        }
    };
}

function plainTools(server) {
    server.registerTool('echo', { inputSchema: { text: z.string() } }, args => text(args.text));

    server.registerTool('add', { inputSchema: { a: z.int(), b: z.int() }, outputSchema: { sum: z.int() } }, ({ a, b }) => {
        const sum = { sum: a + b };
        return { ...text(JSON.stringify(sum)), structuredContent: sum };
    });

    server.registerTool('size', { inputSchema: { größe: z.string() } }, ({ größe }) => text(`größe: ${größe}`));

    server.registerTool('count', { inputSchema: { to: z.int() } }, async ({ to }, extra) => {
        const progressToken = extra._meta?.progressToken;
        for (let step = 1; step <= to && progressToken !== undefined; step++) {
            const params = { progressToken, progress: step, total: to, message: `step ${step}` };
            await extra.sendNotification({ method: 'notifications/progress', params });
        }
        return text(`counted ${to}`);
    });

    server.registerTool('log', {}, async ({ sessionId }) => {
        await server.sendLoggingMessage({ level: 'info', logger: NAME, data: 'one' }, sessionId);
        await server.sendLoggingMessage({ level: 'warning', logger: NAME, data: 'two' }, sessionId);
        return text('logged');
    });

    server.registerTool('sleep', {}, async ({ signal }) => {
        await sleep(signal);
        return text('slept');
    });

    server.registerTool('slept', {}, () => text(slept()));

    server.registerTool('touch', {}, async () => {
        memory.noteVersion += 1;
        for (const tell of listeners) await tell();
        return text('touched');
    });
}

function askingTools(server, asker) {
    server.registerTool('confirm', { inputSchema: { action: z.string() } }, async ({ action }, extra) => {
        const answer = await asker.elicit(FORMS.confirm(action), extra);
        if (answer.action !== 'accept') return text(REFUSALS[answer.action]);
        return text(answer.content.ok ? `done: ${action}` : 'refused');
    });

    server.registerTool('order', {}, async extra => {
        const order = await asker.filledIn(FORMS.order, extra);
        return { ...text(JSON.stringify(order)), structuredContent: order };
    });

    server.registerTool('sign_in', {}, async extra => {
        const { action } = await asker.elicit({ mode: 'url', elicitationId: randomUUID(), ...SIGN_IN }, extra);
        return text(action === 'accept' ? 'signed in' : REFUSALS[action]);
    });

    server.registerTool('sum_up', { inputSchema: { text: z.string() } }, async (args, extra) => {
        const { model, content } = await asker.sample(sumUp(args.text), extra);
        return text(`${model} says: ${content.text}`);
    });

    server.registerTool('where', {}, async extra => {
        const roots = await asker.roots(extra);
        return text(roots.map(root => root.uri).join('\n'));
    });

    server.registerTool('trip', {}, async extra => {
        const [who, when] = await Promise.all([asker.filledIn(FORMS.who, extra), asker.filledIn(FORMS.when, extra)]);
        return text(`${who.name} on ${when.date}`);
    });

    server.registerTool('quiz', {}, async extra => {
        const answers = [];
        for (const number of [1, 2, 3]) {
            const { answer } = await asker.filledIn(FORMS.quiz(number, answers.at(-1)), extra);
            answers.push(answer);
        }
        return text(answers.join(' / '));
    });

    server.registerTool('wait', {}, () => text('ready'));
}

function prompts(server, asker) {
    const style = completable(z.string(), start => STYLES.filter(each => each.startsWith(start)));
    server.registerPrompt('greet', { argsSchema: { name: z.string(), style } }, args => userSays(greeting(args.name, args.style)));

    server.registerPrompt('grüße_東京', { argsSchema: { größe: z.string() } }, ({ größe }) => userSays(`größe: ${größe}`));

    server.registerPrompt('letter', {}, async extra => {
        const { name } = await asker.filledIn(FORMS.letter, extra);
        return userSays(`Dear ${name}`);
    });
}

function resources(server, asker) {
    for (const item of ITEMS) server.registerResource(item.name, item.uri, {}, uri => contents(uri.href, item.text));

    server.registerResource('today', NOTE, {}, uri => contents(uri.href, `version ${memory.noteVersion}`));

    server.registerResource('report', new ResourceTemplate('report://{id}', { list: undefined }), {}, async (uri, { id }, extra) => {
        const { name } = await asker.filledIn(FORMS.report(id), extra);
        return contents(uri.href, `report ${id} for ${name}`);
    });

    // `McpServer` has no pages and leaves subscriptions to us.
    server.server.setRequestHandler(ListResourcesRequestSchema, ({ params }) => pageOfResources(params?.cursor));
    const tell = () => server.server.sendResourceUpdated({ uri: NOTE });
    server.server.setRequestHandler(SubscribeRequestSchema, () => {
        listeners.add(tell);
        return {};
    });
    server.server.setRequestHandler(UnsubscribeRequestSchema, () => {
        listeners.delete(tell);
        return {};
    });
    server.server.onclose = () => listeners.delete(tell);
}

/** One transport, and one server, for each session. */
function handlerOfHttp() {
    const sessions = new Map();
    return async (request, response) => {
        const id = request.headers['mcp-session-id'];
        if (request.url !== '/mcp' || (id && !sessions.has(id))) return response.writeHead(404).end();
        if (id) return sessions.get(id).handleRequest(request, response);
        const transport = new StreamableHTTPServerTransport({
            sessionIdGenerator: randomUUID,
            onsessioninitialized: started => void sessions.set(started, transport),
            onsessionclosed: closed => void sessions.delete(closed)
        });
        await build().connect(transport);
        return transport.handleRequest(request, response);
    };
}

const port = serverPort();
if (port === undefined) await build().connect(new StdioServerTransport());
else createServer(handlerOfHttp()).listen(port, '127.0.0.1', () => console.log('ready'));
