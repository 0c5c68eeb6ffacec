// The server of CONTRACT.md on @modelcontextprotocol/server 2: 2026-07-28 and older, on stdio and HTTP. Nothing is left out.
//
// Every handler that asks returns `inputRequired(...)`. To older clients the SDK itself sends what is asked as requests of the server
// and calls the handler again.
import { createServer } from 'node:http';
import { randomBytes, randomUUID } from 'node:crypto';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
    completable,
    createMcpHandler,
    createRequestStateCodec,
    inputRequired,
    inputResponse,
    isLegacyRequest,
    McpServer,
    ResourceTemplate,
    WebStandardStreamableHTTPServerTransport
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import {
    contents, FORMS, greeting, ITEMS, memory, NAME, NOTE, pageOfResources, REFUSALS, serverPort, SIGN_IN, sleep, slept, STYLES, sumUp,
    text, userSays, VERSION
} from '../shared.mjs';

// Signs the state that a call carries from one round to the next.
const states = createRequestStateCodec({ key: randomBytes(32) });

// What tells somebody that the note has changed.
const listeners = new Set();

const ask = (inputRequests, requestState) => inputRequired({ inputRequests, requestState });
const askForm = (key, form, requestState) => ask({ [key]: inputRequired.elicit(form) }, requestState);

/** What a form was filled in with, or undefined before it was asked. Who declines or cancels gets an error. */
function filledIn(ctx, key) {
    const answer = inputResponse(ctx.mcpReq.inputResponses, key);
    if (answer.kind === 'missing') return undefined;
    if (answer.action !== 'accept') throw new Error(REFUSALS[answer.action]);
    return answer.content;
}

/** A server of one connection, or on HTTP of one request. */
function build({ era }) {
    const server = new McpServer(
        { name: NAME, version: VERSION },
        { capabilities: { logging: {}, resources: { subscribe: true } }, requestState: { verify: states.verify } }
    );
    plainTools(server);
    askingTools(server, era);
    prompts(server);
    resources(server);
    return server;
}

function plainTools(server) {
    server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, args => text(args.text));

    server.registerTool(
        'add',
        { inputSchema: z.object({ a: z.int(), b: z.int() }), outputSchema: z.object({ sum: z.int() }) },
        ({ a, b }) => ({ structuredContent: { sum: a + b } })
    );

    server.registerTool('size', { inputSchema: z.object({ größe: z.string() }) }, ({ größe }) => text(`größe: ${größe}`));

    server.registerTool('count', { inputSchema: z.object({ to: z.int() }) }, async ({ to }, { mcpReq }) => {
        const progressToken = mcpReq._meta?.progressToken;
        for (let step = 1; step <= to && progressToken !== undefined; step++) {
            const params = { progressToken, progress: step, total: to, message: `step ${step}` };
            await mcpReq.notify({ method: 'notifications/progress', params });
        }
        return text(`counted ${to}`);
    });

    server.registerTool('log', {}, async ({ mcpReq }) => {
        await mcpReq.log('info', 'one', NAME);
        await mcpReq.log('warning', 'two', NAME);
        return text('logged');
    });

    server.registerTool('sleep', {}, async ({ mcpReq }) => {
        await sleep(mcpReq.signal);
        return text('slept');
    });

    server.registerTool('slept', {}, () => text(slept()));

    server.registerTool('touch', {}, async () => {
        memory.noteVersion += 1;
        for (const tell of listeners) await tell();
        return text('touched');
    });
}

function askingTools(server, era) {
    server.registerTool('confirm', { inputSchema: z.object({ action: z.string() }) }, ({ action }, { mcpReq }) => {
        const answer = inputResponse(mcpReq.inputResponses, 'confirm');
        if (answer.kind === 'missing') return askForm('confirm', FORMS.confirm(action));
        if (answer.action !== 'accept') return text(REFUSALS[answer.action]);
        return text(answer.content.ok ? `done: ${action}` : 'refused');
    });

    server.registerTool('order', {}, ctx => {
        const order = filledIn(ctx, 'order');
        return order ? { structuredContent: order } : askForm('order', FORMS.order);
    });

    server.registerTool('sign_in', {}, ({ mcpReq }) => {
        const answer = inputResponse(mcpReq.inputResponses, 'sign_in');
        if (answer.kind === 'missing') return ask({ sign_in: inputRequired.elicitUrl(SIGN_IN) });
        return text(answer.action === 'accept' ? 'signed in' : REFUSALS[answer.action]);
    });

    server.registerTool('sum_up', { inputSchema: z.object({ text: z.string() }) }, (args, { mcpReq }) => {
        const answer = inputResponse(mcpReq.inputResponses, 'sum_up');
        if (answer.kind === 'missing') return ask({ sum_up: inputRequired.createMessage(sumUp(args.text)) });
        const [said] = [answer.result.content].flat();
        return text(`${answer.result.model} says: ${said.text}`);
    });

    server.registerTool('where', {}, ({ mcpReq }) => {
        const answer = inputResponse(mcpReq.inputResponses, 'where');
        if (answer.kind === 'missing') return ask({ where: inputRequired.listRoots() });
        return text(answer.roots.map(root => root.uri).join('\n'));
    });

    server.registerTool('trip', {}, ctx => {
        const who = filledIn(ctx, 'who');
        const when = filledIn(ctx, 'when');
        if (who && when) return text(`${who.name} on ${when.date}`);
        return ask({ who: inputRequired.elicit(FORMS.who), when: inputRequired.elicit(FORMS.when) });
    });

    server.registerTool('quiz', {}, async ctx => {
        const answers = ctx.mcpReq.requestState()?.answers ?? [];
        const latest = filledIn(ctx, `q${answers.length + 1}`);
        if (latest) answers.push(latest.answer);
        if (answers.length === 3) return text(answers.join(' / '));
        const number = answers.length + 1;
        return askForm(`q${number}`, FORMS.quiz(number, answers.at(-1)), await states.mint({ answers }));
    });

    server.registerTool('wait', {}, async ({ mcpReq }) => {
        const turns = mcpReq.requestState()?.turns ?? 0;
        if (era === 'legacy' || turns === 2) return text('ready');
        return inputRequired({ requestState: await states.mint({ turns: turns + 1 }) });
    });
}

function prompts(server) {
    const style = completable(z.string(), start => STYLES.filter(each => each.startsWith(start)));
    server.registerPrompt('greet', { argsSchema: z.object({ name: z.string(), style }) }, args =>
        userSays(greeting(args.name, args.style))
    );

    server.registerPrompt('grüße_東京', { argsSchema: z.object({ größe: z.string() }) }, ({ größe }) => userSays(`größe: ${größe}`));

    server.registerPrompt('letter', {}, ctx => {
        const to = filledIn(ctx, 'to');
        return to ? userSays(`Dear ${to.name}`) : askForm('to', FORMS.letter);
    });
}

function resources(server) {
    for (const item of ITEMS) server.registerResource(item.name, item.uri, {}, uri => contents(uri.href, item.text));

    server.registerResource('today', NOTE, {}, uri => contents(uri.href, `version ${memory.noteVersion}`));

    server.registerResource('report', new ResourceTemplate('report://{id}', { list: undefined }), {}, (uri, { id }, ctx) => {
        const reader = filledIn(ctx, 'reader');
        return reader ? contents(uri.href, `report ${id} for ${reader.name}`) : askForm('reader', FORMS.report(id));
    });

    // `McpServer` has no pages and leaves the subscriptions of older clients to us.
    server.server.setRequestHandler('resources/list', ({ params }) => pageOfResources(params?.cursor));
    const tell = () => server.server.sendResourceUpdated({ uri: NOTE });
    server.server.setRequestHandler('resources/subscribe', () => {
        listeners.add(tell);
        return {};
    });
    server.server.setRequestHandler('resources/unsubscribe', () => {
        listeners.delete(tell);
        return {};
    });
    server.server.onclose = () => listeners.delete(tell);
}

/** On stdio the SDK itself drops what a 2026-07-28 client does not listen for. */
function buildForStdio(context) {
    const server = build(context);
    if (context.era === 'modern') listeners.add(() => server.server.sendResourceUpdated({ uri: NOTE }));
    return server;
}

/**
 * The SDK serves older clients on HTTP without sessions unless told otherwise, and then nothing can be asked of them. So they get
 * sessions here, in the way its documentation shows.
 */
function handlerOfHttp() {
    const modern = createMcpHandler(build, { legacy: 'reject' });
    listeners.add(() => modern.notify.resourceUpdated(NOTE));
    const sessions = new Map();

    const legacy = async request => {
        const id = request.headers.get('mcp-session-id');
        if (id !== null) return sessions.get(id)?.handleRequest(request) ?? new Response(null, { status: 404 });
        const transport = new WebStandardStreamableHTTPServerTransport({
            sessionIdGenerator: randomUUID,
            onsessioninitialized: started => void sessions.set(started, transport),
            onsessionclosed: closed => void sessions.delete(closed)
        });
        await build({ era: 'legacy' }).connect(transport);
        return transport.handleRequest(request);
    };

    return async request => {
        if (new URL(request.url).pathname !== '/mcp') return new Response(null, { status: 404 });
        return (await isLegacyRequest(request)) ? legacy(request) : modern.fetch(request);
    };
}

const port = serverPort();
if (port === undefined) serveStdio(buildForStdio);
else createServer(toNodeHandler({ fetch: handlerOfHttp() })).listen(port, '127.0.0.1', () => console.log('ready'));
