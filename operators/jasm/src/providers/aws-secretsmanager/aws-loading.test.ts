import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { AwsStore } from './aws-store.test-support.ts';

/** A separate process: in this one, the SDK is already loaded and has printed its one-time warning. */
const SCRIPT = `
import { createRequire } from 'node:module';
import { systemClock } from '@bowline/machinery';
import { awsSecretsManager } from './kind.ts';
const { cache } = createRequire(import.meta.url);
const isLoaded = () => Object.keys(cache).some((file) => file.includes('@aws-sdk'));
const before = isLoaded();
const stop = new AbortController();
const config = { prefix: '', sessionTags: false, allowedRegions: [], allowedRoles: [] };
const provider = await awsSecretsManager.load({
  config, env: process.env, clock: systemClock, observe: () => undefined, signal: stop.signal,
});
const { payload } = await provider.fetchSecret({ path: 'prod/db', namespace: 'team' }, stop.signal);
console.log(JSON.stringify({ before, after: isLoaded(), text: payload.text }));
stop.abort();
`;

it('loads the SDK when a secret is first read, without console output', async () => {
  await using store = await AwsStore.start();
  store.fake.put('prod/db', 'one');
  const node = ['--conditions=@bowline/source', '--import', 'tsx', '--input-type=module', '--eval', SCRIPT];
  const { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: _, ...env } = process.env;
  const cwd = fileURLToPath(new URL('.', import.meta.url));
  const { stdout, stderr } = await promisify(execFile)(process.execPath, node, { cwd, env });
  expect(JSON.parse(stdout)).toEqual({ before: false, after: true, text: 'one' });
  expect(stderr).toBe('');
});
