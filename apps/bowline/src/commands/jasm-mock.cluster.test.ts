import { cluster } from '@bowline/control-plane/testing';
import { Secret } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { operators } from '../operators/operators.ts';
import { type Files, temporaryFiles } from '../testing/child-process.test-support.ts';
import { bowline } from '../testing/test-operators.test-support.ts';

const CANARY = 'canary-3f9c';

/** setUpMock creates a namespace for the test, and a function that runs `bowline jasm mock …` in it. */
async function setUpMock(files: Files) {
  const c = await cluster();
  const kubeconfig = await files.write('admin', JSON.stringify(await c.kubeconfig('admin')));
  const place = ['--kubeconfig', kubeconfig, '--namespace', c.namespace];
  const mock = (...args: readonly string[]) => bowline(['jasm', 'mock', ...args, ...place], { registry: operators });
  return { c, mock, key: { namespace: c.namespace, name: 'jasm-mock' } };
}

it('stores secrets in the mock, shows their keys, their values only on request, and removes them', async () => {
  await using files = await temporaryFiles();
  const { c, mock, key } = await setUpMock(files);
  await using _ = c;
  const none = { code: 0, out: '', err: 'The mock has no secrets.\n' };
  expect(await mock('get')).toEqual(none);
  const first = await mock('set', '/shop/db', `password=${CANARY}=x`, 'user=shop');
  expect(first).toMatchObject({ code: 0, err: '' });
  expect(first.out).toMatch(
    /^\/shop\/db has the keys password, user\nNew pods receive it\. .*force-sync of its pod\.\n$/,
  );
  await mock('set', '/other', 'a=1');
  expect((await mock('get')).out).toBe('PATH       KEYS\n/other     a\n/shop/db   password, user\n');
  const shown = await mock('get', '/shop/db', '--show-values', '-o', 'json');
  const value = { password: `${CANARY}=x`, user: 'shop' };
  expect(JSON.parse(shown.out)).toEqual([{ path: '/shop/db', keys: ['password', 'user'], value }]);

  await mock('set', '/shop/db', 'user=new');
  const changed = await mock('get', '/shop/db', '--show-values');
  expect(changed.out).toBe('PATH       KEYS   VALUE\n/shop/db   user   {"user":"new"}\n');
  expect(await mock('clear', '/shop/db')).toEqual({ code: 0, out: '/shop/db was removed from the mock.\n', err: '' });
  expect((await mock('get')).out).toBe('PATH     KEYS\n/other   a\n');
  expect((await mock('clear')).out).toBe('All secrets were removed from the mock.\n');
  expect(await mock('get')).toEqual(none);
  const { data } = await c.admin.get(Secret, key);
  expect(Object.keys(data ?? {})).toEqual(['values.json']);
});

it('keeps the other data of the Secret, and starts empty if its values cannot be parsed', async () => {
  await using files = await temporaryFiles();
  const { c, mock, key } = await setUpMock(files);
  await using _ = c;
  await c.admin.create(Secret, { metadata: key, stringData: { 'values.json': `{"a": ${CANARY}`, kept: 'as it is' } });
  for (const args of [['get'], ['set', '/a', 'b=c'], ['clear', '/a']]) {
    const { code, out, err } = await mock(...args);
    expect(`${out}${err}`).toMatch(/values\.json of the Secret jasm-mock: it is not JSON.*JASM_MOCK_INVALID/);
    expect(`${out}${err}`).not.toContain(CANARY);
    expect(code).toBe(1);
  }
  expect((await mock('clear')).code).toBe(0);
  expect((await mock('set', '/a', 'b=c')).code).toBe(0);
  const { data } = await c.admin.get(Secret, key);
  expect(Buffer.from(data?.kept ?? '', 'base64').toString()).toBe('as it is');
});

it.each<[readonly string[], number, RegExp]>([
  [['set', '/a', 'k=v', CANARY], 2, /value 2 of 2 has no key; write KEY=VALUE/],
  [['set', '/a', `=${CANARY}`], 2, /value 1 of 1 has no key/],
  [['set', '/a'], 2, /missing required argument 'values'/],
  [['get', '/nowhere'], 1, /the mock has no secret at \/nowhere; list its secrets with `bowline jasm mock get`/],
  [['clear', '/nowhere'], 1, /the mock has no secret at \/nowhere/],
])('rejects %j with exit code %i and a hint, without printing a value', async (args, code, message) => {
  await using files = await temporaryFiles();
  const { c, mock } = await setUpMock(files);
  await using _ = c;
  const answer = await mock(...args);
  expect(answer).toMatchObject({ code, err: expect.stringMatching(message) });
  expect(answer.err).not.toContain(CANARY);
});
