// What a client does, as CONTRACT.md has it: the cases, and the loop that runs them and prints what they saw.
//
// The clients of both majors of the SDK have most methods in common, and a case calls those on `peer.client`. Where they differ, or the
// era makes a difference, `peer` has a method of its own:
//
//   call(name, args, options)   a tool's result; options: `signal`, `onprogress`, and `logLevel`, from which on logs are sent
//   list(what)                  all of `tools`, `prompts` or `resourceTemplates`
//   pagesOfResources()          the resources, page by page
//   subscribe(uri)              resolves once the server will tell of changes
//   isAnswer(error)             whether an error is the server's answer, not a failure to get one
//
// And it passes on what the server sends to `peer.onElicit`, `peer.onSample`, `peer.onLog` and `peer.onUpdated`, which the cases set.
import { isDeepStrictEqual } from 'node:util';
import { setTimeout as pause } from 'node:timers/promises';
import { FORMS, greeting, ITEMS, NAME, NOTE, PAGE_SIZE, SIGN_IN, STYLES, sumUp, VERSION } from './shared.mjs';

export const ROOTS = [{ uri: 'file:///srv/one' }, { uri: 'file:///srv/two' }];
export const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: false } };

const TOOLS = [
    'echo', 'add', 'size', 'count', 'log', 'sleep', 'slept', 'touch', 'confirm', 'order', 'sign_in', 'sum_up', 'where', 'trip',
    'quiz', 'wait'
];
const ORDER = {
    name: 'Ada',
    mail: 'ada@example.com',
    day: '2026-07-28',
    site: 'https://example.com/a?b=c',
    copies: 3,
    weight: 1.5,
    gift: true,
    size: 'large',
    region: 'us',
    extras: ['ribbon', 'box']
};
const LIMIT = 20_000;

const CASES = {
    async list(peer) {
        const { name, version } = peer.client.getServerVersion();
        same({ name, version }, { name: NAME, version: VERSION });
        same(namesOf(await peer.list('tools')), [...TOOLS].sort());
        same(namesOf(await peer.list('prompts')), ['greet', 'grüße_東京', 'letter']);
        same((await peer.list('resourceTemplates')).map(template => template.uriTemplate), ['report://{id}']);
    },

    async tools(peer) {
        await says(peer, 'echo', { text: 'hello' }, 'hello');
        await fails(peer, 'no_such_tool', {});
        await fails(peer, 'add', { b: 1 });
        await says(peer, 'echo', { text: 'hello' }, 'hello');
    },

    async unicode(peer) {
        const größe = '🎼 ünïcödé "quoted"\n\u0007';
        await says(peer, 'size', { größe }, `größe: ${größe}`);
        await prompts(peer, { name: 'grüße_東京', arguments: { größe } }, `größe: ${größe}`);
    },

    async structured(peer) {
        const add = (await peer.list('tools')).find(tool => tool.name === 'add');
        same(Object.keys(add?.outputSchema?.properties ?? {}), ['sum']);
        same((await call(peer, 'add', { a: 2, b: 40 })).structuredContent, { sum: 42 });
    },

    async large(peer) {
        const text = '0123456789abcdef'.repeat(65_536);
        await says(peer, 'echo', { text }, text);
    },

    async progress(peer) {
        const reports = [];
        await says(peer, 'count', { to: 5 }, 'counted 5', { onprogress: report => reports.push(report) });
        same(reports, [1, 2, 3, 4, 5].map(progress => ({ progress, total: 5, message: `step ${progress}` })));
    },

    async log(peer) {
        const logs = [];
        const both = new Promise(resolve => {
            peer.onLog = ({ level, logger, data }) => logs.push({ level, logger, data }) === 2 && resolve();
        });
        await says(peer, 'log', {}, 'logged', { logLevel: 'info' });
        await both;
        same(logs, [
            { level: 'info', logger: NAME, data: 'one' },
            { level: 'warning', logger: NAME, data: 'two' }
        ]);
    },

    async 'cancel-call'(peer) {
        await call(peer, 'slept', {}); // forgets what somebody else may have cancelled
        const signal = AbortSignal.timeout(1_000);
        const outcome = await peer.call('sleep', {}, { signal }).then(JSON.stringify, () => 'given up');
        same(outcome, 'given up');
        // Nothing says when the server knows of it, so we ask until it does; the limit of a case ends this.
        while (textOf(await call(peer, 'slept', {})) !== 'cancelled') await pause(100);
    },

    async pages(peer) {
        const pages = await peer.pagesOfResources();
        if (pages.length < 3) throw new Error(`expected three pages or more, got ${pages.length}`);
        if (pages.some(page => page.length > PAGE_SIZE)) throw new Error(`a page has more than ${PAGE_SIZE} resources`);
        const uris = pages.flat().map(resource => resource.uri);
        same(uris.sort(), [...ITEMS.map(item => item.uri), NOTE].sort());
    },

    async read(peer) {
        await reads(peer, 'item://7', 'item 7');
    },

    async complete(peer) {
        const complete = async value => {
            const { completion } = await peer.client.complete({
                ref: { type: 'ref/prompt', name: 'greet' },
                argument: { name: 'style', value }
            });
            return completion.values;
        };
        same(await complete('f'), STYLES);
        same(await complete('fo'), ['formal']);
    },

    async prompt(peer) {
        await prompts(peer, { name: 'greet', arguments: { name: 'Ada', style: 'formal' } }, greeting('Ada', 'formal'));
    },

    async changes(peer) {
        const told = new Promise(resolve => (peer.onUpdated = resolve));
        await peer.subscribe(NOTE);
        const before = await noteVersion(peer);
        await says(peer, 'touch', {}, 'touched');
        same((await told).uri, NOTE);
        const after = await noteVersion(peer);
        if (after <= before) throw new Error(`expected a higher version than ${before}, got ${after}`);
    },

    async form(peer) {
        const result = await answering(peer, [[FORMS.order, accept(ORDER)]], () => call(peer, 'order', {}));
        same(result.structuredContent, ORDER);
    },

    async accept(peer) {
        await confirms(peer, accept({ ok: true }), 'done: deploy');
        await confirms(peer, accept({ ok: false }), 'refused');
    },

    async decline(peer) {
        await confirms(peer, { action: 'decline' }, 'declined');
    },

    async cancel(peer) {
        await confirms(peer, { action: 'cancel' }, 'cancelled');
    },

    async url(peer) {
        const question = { mode: 'url', ...SIGN_IN };
        await answering(peer, [[question, { action: 'accept' }]], () => says(peer, 'sign_in', {}, 'signed in'));
        await answering(peer, [[question, { action: 'decline' }]], () => says(peer, 'sign_in', {}, 'declined'));
    },

    async sampling(peer) {
        const asked = [];
        peer.onSample = ({ messages, maxTokens }) => {
            // One block may stand alone or in a list.
            asked.push({ messages: messages.map(({ role, content }) => ({ role, content: [content].flat() })), maxTokens });
            return { model: 'ensemble-1', role: 'assistant', content: { type: 'text', text: 'short' }, stopReason: 'endTurn' };
        };
        await says(peer, 'sum_up', { text: 'a long story' }, 'ensemble-1 says: short');
        const { messages, maxTokens } = sumUp('a long story');
        same(asked, [{ messages: messages.map(({ role, content }) => ({ role, content: [content] })), maxTokens }]);
    },

    async roots(peer) {
        await says(peer, 'where', {}, ROOTS.map(root => root.uri).join('\n'));
    },

    async together(peer) {
        const exchanges = [
            [FORMS.who, accept({ name: 'Ada' })],
            [FORMS.when, accept({ date: '2026-07-28' })]
        ];
        await answering(peer, exchanges, () => says(peer, 'trip', {}, 'Ada on 2026-07-28'));
    },

    async rounds(peer) {
        const exchanges = [
            [FORMS.quiz(1), accept({ answer: 'a' })],
            [FORMS.quiz(2, 'a'), accept({ answer: 'b' })],
            [FORMS.quiz(3, 'b'), accept({ answer: 'c' })]
        ];
        await answering(peer, exchanges, () => says(peer, 'quiz', {}, 'a / b / c'));
    },

    async 'state-only'(peer) {
        if (peer.era === 'legacy') throw new Impossible('there is no state before 2026-07-28');
        await says(peer, 'wait', {}, 'ready');
        // Once more by hand, to see each round: only the client of 2 comes here.
        const rounds = [];
        let requestState;
        do {
            const params = { name: 'wait', arguments: {}, requestState };
            const result = await peer.client.request({ method: 'tools/call', params }, { allowInputRequired: true });
            rounds.push(result.resultType === 'input_required' ? Object.keys(result.inputRequests ?? {}) : textOf(result));
            requestState = result.requestState;
        } while (requestState !== undefined);
        same(rounds, [[], [], 'ready']);
    },

    async 'prompt-asks'(peer) {
        await answering(peer, [[FORMS.letter, accept({ name: 'Ada' })]], () => prompts(peer, { name: 'letter' }, 'Dear Ada'));
    },

    async 'template-asks'(peer) {
        await answering(peer, [[FORMS.report('7'), accept({ name: 'Ada' })]], () => reads(peer, 'report://7', 'report 7 for Ada'));
    }
};

/** Why a case cannot be run at all: its line says `null`. */
export class Impossible extends Error {}

/** What the command line asks for: the era, the cases, and a URL or a command. */
export function parseArguments(args = process.argv.slice(2)) {
    const dashes = args.indexOf('--');
    const [own, [command, ...commandArgs]] = dashes < 0 ? [args, []] : [args.slice(0, dashes), args.slice(dashes + 1)];
    const option = name => {
        const at = own.indexOf(name);
        return at < 0 ? undefined : own.splice(at, 2)[1];
    };
    const [era, url] = [option('--era'), option('--url')];
    const unknown = own.filter(name => !Object.hasOwn(CASES, name));
    if (unknown.length > 0) throw new Error(`no such case: ${unknown.join(', ')}`);
    if (!['modern', 'legacy'].includes(era) || !url === !command) {
        throw new Error('usage: client.mjs --era modern|legacy (--url URL CASE... | CASE... -- COMMAND ARGS...)');
    }
    return { era, cases: own, url, command, args: commandArgs };
}

/** Runs the named cases in their order and prints a line for each. */
export async function runCases(names, peer) {
    for (const name of names) {
        try {
            await withinLimit(CASES[name](peer));
            print({ case: name, ok: true });
        } catch (error) {
            print({ case: name, ok: error instanceof Impossible ? null : false, why: error.message });
        }
    }
}

/** For an SDK that cannot run any of them. */
export function printImpossible(names, why) {
    for (const name of names) print({ case: name, ok: null, why });
}

function print(line) {
    process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function withinLimit(promise) {
    let timer;
    const limit = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`took more than ${LIMIT / 1_000} seconds`)), LIMIT);
    });
    await Promise.race([promise, limit]).finally(() => clearTimeout(timer));
}

function same(actual, expected) {
    // What an SDK hands over may have members that are undefined: they are not on the wire.
    const plain = JSON.parse(JSON.stringify(actual ?? null));
    if (!isDeepStrictEqual(plain, expected)) throw new Error(`expected ${brief(expected)}, got ${brief(plain)}`);
}

function brief(value) {
    const json = JSON.stringify(value);
    return json.length > 400 ? `${json.slice(0, 400)}… (${json.length} characters)` : json;
}

const namesOf = list => list.map(each => each.name).sort();

const accept = content => ({ action: 'accept', content });

/** The result of a tool, which must not be an error. */
async function call(peer, name, args, options) {
    const result = await peer.call(name, args, options);
    if (result.isError) throw new Error(`\`${name}\` failed: ${brief(result.content)}`);
    return result;
}

function textOf({ content }) {
    same(content.map(block => block.type), ['text']);
    return content[0].text;
}

async function says(peer, name, args, expected, options) {
    same(textOf(await call(peer, name, args, options)), expected);
}

async function fails(peer, name, args) {
    try {
        const result = await peer.call(name, args);
        if (!result.isError) throw new Error(`expected \`${name}\` to fail, got ${brief(result)}`);
    } catch (error) {
        if (!peer.isAnswer(error)) throw error;
    }
}

async function reads(peer, uri, expected) {
    const { contents } = await peer.client.readResource({ uri });
    same(contents.map(({ uri, text }) => ({ uri, text })), [{ uri, text: expected }]);
}

async function prompts(peer, params, expected) {
    const { messages } = await peer.client.getPrompt(params);
    same(messages.map(({ role, content: { type, text } }) => ({ role, type, text })), [{ role: 'user', type: 'text', text: expected }]);
}

async function noteVersion(peer) {
    const { contents } = await peer.client.readResource({ uri: NOTE });
    const [, version] = contents[0].text.match(/^version (\d+)$/) ?? [];
    if (version === undefined) throw new Error(`expected \`version N\`, got ${brief(contents)}`);
    return Number(version);
}

async function confirms(peer, answer, expected) {
    await answering(peer, [[FORMS.confirm('deploy'), answer]], () => says(peer, 'confirm', { action: 'deploy' }, expected));
}

/** Answers the server's questions while `work` is under way; exactly these must be asked, each once. */
async function answering(peer, exchanges, work) {
    const asked = [];
    peer.onElicit = params => {
        asked.push(params);
        const exchange = exchanges.find(([question]) => question.message === params.message);
        if (!exchange) throw new Error(`did not expect to be asked ${brief(params.message)}`);
        return exchange[1];
    };
    const result = await work();
    same(comparable(asked), comparable(exchanges.map(([question]) => question)));
    return result;
}

/** Questions without what an SDK may add on its own; the order of a form's fields counts, that of the questions does not. */
function comparable(questions) {
    const bare = ({ title, description, ...schema }) => schema;
    const one = ({ mode = 'form', message, url, requestedSchema: schema }) =>
        mode === 'url'
            ? { mode, message, url }
            : {
                  mode,
                  message,
                  fields: Object.entries(schema.properties).map(([name, field]) => [name, bare(field)]),
                  required: [...(schema.required ?? [])].sort()
              };
    return questions.map(one).sort((a, b) => (a.message < b.message ? -1 : 1));
}
