// What the servers offer and the clients expect, as CONTRACT.md has it: names, texts and forms. Nothing here knows an SDK.

export const NAME = 'ensemble';
export const VERSION = '1.0';
export const STYLES = ['formal', 'friendly', 'funny'];
export const NOTE = 'note://today';
export const SIGN_IN = { message: 'Please sign in', url: 'https://example.com/sign-in' };

export const ITEMS = Array.from({ length: 25 }, (_, n) => ({ uri: `item://${n}`, name: `item ${n}`, text: `item ${n}` }));
export const PAGE_SIZE = 10;

export const greeting = (name, style) => `Write a ${style} greeting to ${name}.`;

/** The parameters of a form elicitation: every property is required but those named in `optional`. */
export function form(message, properties, optional = []) {
    const required = Object.keys(properties).filter(name => !optional.includes(name));
    return { message, requestedSchema: { type: 'object', properties, required } };
}

const string = { type: 'string' };

export const FORMS = {
    confirm: action => form(`Run ${action}?`, { ok: { type: 'boolean' } }),
    order: form(
        'Your order',
        {
            name: { type: 'string', minLength: 1, maxLength: 40 },
            mail: { type: 'string', format: 'email' },
            day: { type: 'string', format: 'date' },
            site: { type: 'string', format: 'uri' },
            copies: { type: 'integer', minimum: 1, maximum: 9, default: 2 },
            weight: { type: 'number' },
            gift: { type: 'boolean', default: false },
            size: { type: 'string', enum: ['small', 'large'] },
            region: {
                type: 'string',
                oneOf: [
                    { const: 'eu', title: 'Europe' },
                    { const: 'us', title: 'America' }
                ]
            },
            extras: { type: 'array', minItems: 1, maxItems: 2, items: { type: 'string', enum: ['ribbon', 'card', 'box'] } },
            note: string
        },
        ['site', 'note']
    ),
    who: form('Who travels?', { name: string }),
    when: form('When?', { date: { type: 'string', format: 'date' } }),
    quiz: (number, before) =>
        form(before === undefined ? `Question ${number}?` : `You said ${before}. Question ${number}?`, { answer: string }),
    letter: form('To whom?', { name: string }),
    report: id => form(`For whom is report ${id}?`, { name: string })
};

/** The parameters of the sampling request of `sum_up`. */
export const sumUp = text => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Sum up: ${text}` } }],
    maxTokens: 100
});

export const REFUSALS = { decline: 'declined', cancel: 'cancelled' };

/** One page of the resources' list; the cursor is the number of the first resource on it. */
export function pageOfResources(cursor = '0') {
    const all = [...ITEMS.map(({ uri, name }) => ({ uri, name })), { uri: NOTE, name: 'today' }];
    const start = Number(cursor);
    const end = start + PAGE_SIZE;
    return { resources: all.slice(start, end), ...(end < all.length && { nextCursor: String(end) }) };
}

/** What the servers remember between calls, whichever connection they come on. */
export const memory = { noteVersion: 1, sleepWasCancelled: false };

/** Sleeps for 30 seconds, or until the call is cancelled. */
export function sleep(signal) {
    return new Promise((resolve, reject) => {
        const timer = setTimeout(resolve, 30_000);
        signal.addEventListener('abort', () => {
            memory.sleepWasCancelled = true;
            clearTimeout(timer);
            reject(new Error('cancelled'));
        });
    });
}

/** Whether a `sleep` was cancelled since the last time this was asked. */
export function slept() {
    const answer = memory.sleepWasCancelled ? 'cancelled' : 'not cancelled';
    memory.sleepWasCancelled = false;
    return answer;
}

export const text = value => ({ content: [{ type: 'text', text: value }] });
export const userSays = value => ({ messages: [{ role: 'user', content: { type: 'text', text: value } }] });
export const contents = (uri, value) => ({ contents: [{ uri, text: value }] });

/** `--stdio` or `--http PORT`: the port, or undefined. */
export function serverPort([transport, port] = process.argv.slice(2)) {
    if (transport === '--stdio') return undefined;
    if (transport === '--http' && port) return Number(port);
    throw new Error('usage: server.mjs --stdio | --http PORT');
}
