// The clients of @modelcontextprotocol/sdk 1.32.2 and @modelcontextprotocol/client 2.4.0 lose reports of progress on stdio: a report that
// is read in one piece with the result of its call never reaches `onprogress`. The result is handled at once and takes the handler
// away; the report is put off to a microtask and then finds none ("Received a progress notification for an unknown token"). Known as
// https://github.com/modelcontextprotocol/typescript-sdk/issues/2580.
//
// Exits with 0 if both clients have the defect, with 1 if it is gone from one of them.
const CLIENTS = {
    '@modelcontextprotocol/sdk': ['@modelcontextprotocol/sdk/client/index.js', '@modelcontextprotocol/sdk/client/stdio.js'],
    '@modelcontextprotocol/client': ['@modelcontextprotocol/client', '@modelcontextprotocol/client/stdio']
};

// A server in plain JSON: it writes three reports and the result at once, in the right order.
const SERVER = `
    const message = body => JSON.stringify({ jsonrpc: '2.0', ...body }) + '\\n';
    const initialized = {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'plain', version: '1' }
    };
    require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
        const { id, method, params } = JSON.parse(line);
        if (method === 'initialize') process.stdout.write(message({ id, result: initialized }));
        if (method !== 'tools/call') return;
        const progressToken = params._meta.progressToken;
        const report = progress => message({ method: 'notifications/progress', params: { progressToken, progress, total: 3 } });
        process.stdout.write(report(1) + report(2) + report(3) + message({ id, result: { content: [] } }));
    });
`;

async function reportsSeenBy([clientModule, stdioModule]) {
    const { Client } = await import(clientModule);
    const { StdioClientTransport } = await import(stdioModule);
    const client = new Client({ name: 'defect', version: '1' }, { capabilities: {} });
    await client.connect(new StdioClientTransport({ command: process.execPath, args: ['-e', SERVER] }));
    const seen = [];
    const options = { onprogress: report => seen.push(report.progress) };
    const call = { name: 'any', arguments: {} };
    // In 1 the options are the third argument, in 2 the second.
    await (clientModule.includes('/sdk/') ? client.callTool(call, undefined, options) : client.callTool(call, options));
    await client.close();
    return seen;
}

for (const [name, modules] of Object.entries(CLIENTS)) {
    const seen = await reportsSeenBy(modules);
    const lost = seen.length < 3;
    console.log(`${name}: of three reports of progress sent before the result, \`onprogress\` saw ${seen.length}${lost ? '' : ': the defect is gone'}`);
    if (!lost) process.exitCode = 1;
}
