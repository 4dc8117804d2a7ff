import { ConfigMap } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { createClient } from '../client/create-client.ts';
import { type ScriptedResponse, ScriptedTransport } from '../client/scripted-transport.test-support.ts';
import { saveBackup } from './backup.ts';

const taken: ScriptedResponse = { status: 409, body: { kind: 'Status', reason: 'AlreadyExists' } };
const stored = (name: string, data: Record<string, string> | undefined): ScriptedResponse => ({
  body: { metadata: { namespace: 'default', name, uid: 'u', labels: { a: 'b' } }, data },
});

function save(answers: readonly ScriptedResponse[], data: Record<string, string>, name = 'a-before') {
  const transport = new ScriptedTransport(...answers);
  const key = { namespace: 'default', name };
  const tools = { live: createClient({ transport }), fieldManager: 'm' };
  return { transport, saved: saveBackup(tools, { resource: ConfigMap, key, content: { data } }) };
}

describe('saveBackup', () => {
  it('stores the content under the name', async () => {
    const { saved, transport } = save([{ body: {} }], { a: '1' });
    expect(await saved).toEqual({ namespace: 'default', name: 'a-before' });
    expect(transport.sent(0)).toMatchObject({ data: { a: '1' }, metadata: { name: 'a-before' } });
  });

  it('recognizes the same content regardless of its order', async () => {
    const { saved } = save([taken, stored('a-before', { b: '2', a: '1' })], { a: '1', b: '2' });
    expect(await saved).toMatchObject({ name: 'a-before' });
    const empty = save([taken, stored('a-before', undefined)], {});
    expect(await empty.saved).toMatchObject({ name: 'a-before' });
  });

  it('never overwrites other content, but stores it under a name with its hash, of at most 253 characters', async () => {
    const name = `${'n'.repeat(243)}-${'n'.repeat(9)}`;
    const { saved, transport } = save([taken, stored(name, { a: 'other' }), { body: {} }], { a: '1' }, name);
    const key = await saved;
    expect(key.name).toMatch(/^n{243}-[0-9a-f]{8}$/);
    expect(transport.sent(2)).toMatchObject({ metadata: { name: key.name } });
  });

  it('truncates a long name before the hash, so that it never equals the name of the saved object', async () => {
    const original = 'n'.repeat(253);
    const { saved } = save([{ body: {} }], { a: '1' }, `${original}-before`);
    expect((await saved).name).toMatch(/^n{244}-[0-9a-f]{8}$/);
  });

  it('fails when objects of both names have different content', async () => {
    const { saved } = save([taken, stored('a', { a: 'x' }), taken, stored('a', { a: 'y' })], { a: '1' });
    await expect(saved).rejects.toMatchObject({ code: 'BOWLINE_BACKUP_TAKEN' });
  });
});
