import { applyDefaults, validate } from '@bowline/machinery/schema';
import { silentLog } from '@bowline/runtime/manager';
import { expect, it } from 'vitest';
import { gatewayFolder } from './gateway-folder.test-support.ts';
import { simulateGatewayCommand } from './simulate-gateway-command.ts';

const schema = simulateGatewayCommand.options?.json ?? {};

it('serves a data folder until it is stopped, and prints its address', async () => {
  await using folder = await gatewayFolder();
  const { dataFolder: data, apiKeyFile, journalFile: journal } = folder;
  const options = applyDefaults({ data, apiKeyFile, journal, port: 0, tls: false }, schema);
  const end = new AbortController();
  const lines: string[] = [];
  const pings: Promise<unknown>[] = [];
  const print = (line: string): void => {
    lines.push(line);
    const url = /http:\S+/.exec(line)?.[0] ?? '';
    const ping = fetch(`${url}/StatusPing`).then(async (response) => await response.json());
    pings.push(ping.finally(() => end.abort()));
  };
  await simulateGatewayCommand.run({ options, print, log: silentLog, signal: end.signal } as never);
  expect(lines).toEqual([expect.stringMatching(/^The simulated gateway serves \S+ at http:\/\/127\.0\.0\.1:\d+$/)]);
  expect(await Promise.all(pings)).toEqual([{ state: 'RUNNING' }]);
  expect((await folder.journal()).map(({ type }) => type)).toContain('call');
});

it('serves HTTPS on the port of a gateway by default, and needs a folder and a key', () => {
  expect(applyDefaults({}, schema)).toEqual({ port: 8043, tls: true });
  expect(validate({ port: 8043, tls: true }, schema).map(({ field }) => field)).toEqual(['data', 'apiKeyFile']);
});
