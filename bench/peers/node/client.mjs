// The client under test on the TypeScript SDK: --url URL [--echo N] [--mrtr N]. See CONTRACT.md.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { flag } from './flags.mjs';

const WARM_UP = 50;
const echoes = Number(flag('--echo') ?? 5000);
const flows = Number(flag('--mrtr') ?? 1000);

const client = new Client(
    { name: 'bench', version: '1.0.0' },
    { versionNegotiation: { mode: 'auto' }, capabilities: { elicitation: { form: {} } } }
);
client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { ok: true } }));
await client.connect(new StreamableHTTPClientTransport(new URL(flag('--url'))));

async function call(name, args, expected) {
    const { content } = await client.callTool({ name, arguments: args });
    const text = content[0]?.text;
    if (text !== expected) throw new Error(`expected ${expected}, not ${text}`);
}
const echo = text => call('echo', { text }, text);
const confirm = action => call('confirm', { action }, `done: ${action}`);

/** What so many calls took, as members of the line that is printed. */
async function part(name, count, one) {
    const cpu = process.cpuUsage();
    const start = process.hrtime.bigint();
    for (let number = 0; number < count; number++) await one(number);
    const wall = Number(process.hrtime.bigint() - start);
    const { user, system } = process.cpuUsage(cpu);
    return { [`${name}_n`]: count, [`${name}_wall_ns`]: wall, [`${name}_cpu_ns`]: (user + system) * 1000 };
}

for (let number = 0; number < WARM_UP; number++) await echo(`warm ${number}`);
const figures = {
    ...(await part('echo', echoes, number => echo(`hello ${number}`))),
    ...(await part('mrtr', flows, number => confirm(`deploy ${number}`)))
};
console.log(JSON.stringify(figures));
await client.close();
