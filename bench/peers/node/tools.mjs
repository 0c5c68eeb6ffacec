// The contract's tools on the TypeScript SDK.
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { acceptedContent, createRequestStateCodec, inputRequired, McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod/v4';

// The SDK makes a server for each request, or for each session. Schemas and keys outlive it.
const Echo = z.object({ text: z.string() });
const Slow = z.object({ ms: z.int() });
const Confirm = z.object({ action: z.string() });
const Address = z.object({ street: z.string(), city: z.string(), zip: z.string(), country: z.string() });
const Line = z.object({
    sku: z.string(),
    title: z.string(),
    quantity: z.int(),
    price: z.number(),
    tags: z.array(z.string())
});
const Order = z.object({
    id: z.string(),
    customer: z.string(),
    address: Address,
    lines: z.array(Line),
    gift: z.boolean(),
    note: z.string().nullable()
});
const Nested = z.object({ orders: z.array(Order) });
const Filler = z.object({
    a: z.string().describe('first'),
    b: z.int().optional().describe('second'),
    c: z.boolean().optional().describe('third')
});

const form = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
const pad = 'x'.repeat(140);
const states = createRequestStateCodec({
    key: randomBytes(32).toString('base64'),
    ttlSeconds: 600,
    bind: context => context.mcpReq.method
});

const say = text => ({ content: [{ type: 'text', text }] });
const end = (agreed, action) => say(agreed ? `done: ${action}` : 'refused');

async function confirm({ action }, context) {
    const state = context.mcpReq.requestState();
    const answer = acceptedContent(context.mcpReq.inputResponses, 'confirm');
    if (state && answer) {
        return end(answer.ok && state.step === 'confirm' && state.action === action, action);
    }
    const question = inputRequired.elicit({ message: `Run ${action}?`, requestedSchema: form });
    return inputRequired({
        inputRequests: { confirm: question },
        requestState: await states.mint({ step: 'confirm', action, pad }, context)
    });
}

async function confirmInSession({ action }, context) {
    const question = { mode: 'form', message: `Run ${action}?`, requestedSchema: form };
    // Told which call it belongs to, it leaves on the stream of that call.
    const answer = await context.mcpReq.elicitInput(question, { relatedRequestId: context.mcpReq.id });
    return end(answer.action === 'accept' && answer.content?.ok, action);
}

function nested({ orders }) {
    const lines = orders.flatMap(order => order.lines);
    const pieces = lines.reduce((sum, line) => sum + line.quantity, 0);
    return say(`${lines.length} lines, ${pieces} pieces`);
}

/** A server with so many fillers, for clients of this era. */
export function server(era, fillers) {
    const server = new McpServer(
        { name: 'bench', version: '1.0.0' },
        { capabilities: { tools: {} }, requestState: { verify: states.verify } }
    );
    const tool = (name, description, inputSchema, run) => server.registerTool(name, { description, inputSchema }, run);
    tool('echo', 'Repeats its text.', Echo, async ({ text }) => say(text));
    tool('slow', 'Answers after a while.', Slow, async ({ ms }) => {
        await pause(ms);
        return say(`slept ${ms}`);
    });
    tool('nested', 'Counts what is ordered.', Nested, async orders => nested(orders));
    tool('confirm', 'Asks before it acts.', Confirm, era === 'legacy' ? confirmInSession : confirm);
    for (let index = 0; index < fillers; index++) {
        const name = `filler_${String(index).padStart(4, '0')}`;
        tool(name, `Filler tool number ${index}.`, Filler, async () => say('filler'));
    }
    return server;
}
