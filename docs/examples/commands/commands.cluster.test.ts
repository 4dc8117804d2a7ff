import { Readable } from 'node:stream';
import { cluster } from '@bowline/control-plane/testing';
import { Secret } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { temporaryFiles } from '../../../apps/bowline/src/testing/child-process.test-support.ts';
import { bowline } from '../../../apps/bowline/src/testing/test-operators.test-support.ts';
import { locker } from './operator.ts';

const { kubectlPlugin } = locker;
const registry = { locker: { summary: 'keeps lockers', kubectlPlugin, load: () => Promise.resolve(locker) } };

it('puts files into a locker, and lists lockers as a table and as JSON, also as a kubectl plugin', async () => {
  await using files = await temporaryFiles();
  await using c = await cluster({ prefix: 'locker' });
  const kubeconfig = await files.write('kubeconfig', JSON.stringify(await c.kubeconfig('admin')));
  const passport = await files.write('passport.txt', 'of Ann');
  const run = (args: readonly string[], invokedBy = 'bowline') =>
    bowline([...args, '--kubeconfig', kubeconfig, '-n', c.namespace], {
      registry,
      invokedBy,
      stdin: () => Readable.from([Buffer.of(0xff, 0x00)]),
      askHidden: () => Promise.resolve(Buffer.from('1234')),
    });

  expect(await run(['locker', 'list'])).toEqual({ code: 0, out: '', err: 'There are no lockers.\n' });
  const put = await run(['locker', 'put', 'papers', '--from-file', passport, '--from-file', 'photo=-']);
  expect(put).toEqual({ code: 0, out: `${c.namespace}/papers has 2 files\n`, err: '' });
  const { data } = await c.admin.get(Secret, { namespace: c.namespace, name: 'papers' });
  expect(data).toEqual({ 'passport.txt': 'b2YgQW5u', photo: '/wA=', pin: 'MTIzNA==' });

  const table = 'NAME     KEYS\npapers   passport.txt, photo, pin\n';
  expect((await run(['locker', 'list'])).out).toBe(table);
  expect((await run(['list'], '/usr/local/bin/kubectl-locker')).out).toBe(table);
  const { out } = await run(['locker', 'list', '-o', 'json']);
  expect(JSON.parse(out)).toEqual([{ name: 'papers', keys: ['passport.txt', 'photo', 'pin'] }]);
});

it('reports what is missing with exit code 2: a variable of the environment, or a terminal', async () => {
  const guard = await bowline(['locker', 'guard'], { registry });
  expect(guard.err).toContain('--node-name: Required value; set the flag or the environment variable NODE_NAME');
  const put = await bowline(['locker', 'put', 'papers'], { registry });
  expect(put.err).toContain('standard input is not a terminal; pass --pin-file with a file, or - for standard input');
  expect([guard.code, put.code]).toEqual([2, 2]);
});
