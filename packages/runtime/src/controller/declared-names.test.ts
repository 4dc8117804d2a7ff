import { ConfigMap, Secret } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { createClient } from '../client/create-client.ts';
import { ScriptedTransport } from '../client/scripted-transport.test-support.ts';
import { createWriter } from '../writing/writer.ts';
import type { WriteDeclaration } from './controller.ts';
import { declaredNamesCheck, withCheckedNames } from './declared-names.ts';

const declare = (given: Partial<WriteDeclaration>): WriteDeclaration => ({
  verb: 'apply',
  resource: ConfigMap,
  remove: false,
  namespaces: undefined,
  names: undefined,
  ...given,
});
const key = { namespace: 'default', name: 'b' };

describe('declaredNamesCheck', () => {
  const check = declaredNamesCheck([
    declare({ names: ['a'] }),
    declare({ verb: 'ensure', remove: true, names: ['b'] }),
    declare({ resource: Secret }),
  ]);

  it('accepts the declared names of each verb, and all names of a kind without them', () => {
    check('apply', ConfigMap, { ...key, name: 'a' });
    check('create', ConfigMap, { ...key, name: 'a' });
    check('ensure', ConfigMap, key);
    check('release', ConfigMap, key);
    check('remove', ConfigMap, key);
    check('apply', Secret, key);
  });

  it.each([
    ['apply', 'b', '.owns or .applies', 'a'],
    ['create', 'b', '.owns or .applies', 'a'],
    ['ensure', 'a', '.ensures', 'b'],
    ['release', 'a', '.ensures', 'b'],
    ['remove', 'a', '.ensures', 'b'],
  ] as const)('rejects to %s another name, and names the declaration', (verb, name, declaration, names) => {
    expect(() => check(verb, ConfigMap, { namespace: 'default', name })).toThrow(
      expect.objectContaining({
        code: 'BOWLINE_NAME_UNDECLARED',
        message: `cannot ${verb} ConfigMap default/${name}: ${declaration} declares ConfigMap with the names ${names} only; add the name to "names", or omit "names"`,
      }),
    );
  });
});

describe('withCheckedNames', () => {
  it('rejects every write of another name without a request', async () => {
    const transport = new ScriptedTransport();
    const ownership = { labels: { app: 'a' } };
    const writer = withCheckedNames(
      createWriter({ client: createClient({ transport }), fieldManager: 'm', ownership }),
      declaredNamesCheck([declare({ names: ['a'], remove: true })]),
    );
    const refused = expect.objectContaining({ code: 'BOWLINE_NAME_UNDECLARED' });
    await expect(writer.apply(ConfigMap, { metadata: key })).rejects.toEqual(refused);
    await expect(writer.createOnce(ConfigMap, key, () => ({}))).rejects.toEqual(refused);
    await expect(writer.remove(ConfigMap, key)).rejects.toEqual(refused);
    await expect(writer.apply(ConfigMap, {})).rejects.toMatchObject({ code: 'BOWLINE_WRITE_INVALID' });
    expect(transport.requests).toEqual([]);
  });
});
