import { describe, expect, test } from 'vitest';
import { parsePodAnnotation } from './parse-pod-annotation.ts';

const BASE = 'provider: mock\npath: /app/db\nsecretName: db\n';

describe('requestHash', () => {
  const hash = (text: string): string => {
    const { requests, problems } = parsePodAnnotation(text, undefined);
    expect(problems).toEqual([]);
    return requests[0]?.hash ?? '';
  };

  test('is stable across releases, because it is stored on Secrets', () => {
    expect(hash(BASE)).toMatchInlineSnapshot(`"4b07ae9be36268e0bbce69f39d3f27ca7e98473e4fa8e385ec7aaec50baaf7f0"`);
    expect(
      hash(
        `${BASE}keys: {b: y, a: x}\noptionalKeys: [y]\nmissingKeyPolicy: Ignore\nversionId: "1"\ntype: example.com/x\ndecode: Base64\ntemplate: {z: b, c: d}\nimmutable: true\nregion: r\nrole: s`,
      ),
    ).toMatchInlineSnapshot(`"476f04bead227f3f2b546bb2e8d0bfe7fb2543c478a85e8a2a9f6143beea987a"`);
  });

  test.each([
    'format: json\ntype: Opaque\ndecode: None\nimmutable: false\nmissingKeyPolicy: Fail',
    'deletionPolicy: Delete',
    'creationPolicy: CreateOrMerge',
    'refreshInterval: 5m',
    'restart: true',
  ])('does not change with %j', (more) => {
    expect(hash(`${BASE}${more}`)).toBe(hash(BASE));
  });

  test('does not depend on the order of keys', () => {
    expect(hash(`${BASE}keys: [a, b]\noptionalKeys: [a, b]`)).toBe(
      hash(`${BASE}keys: {b: b, a: a}\noptionalKeys: [b, a]`),
    );
    expect(hash(`${BASE}template: {a: x, b: y}`)).toBe(hash(`${BASE}template: {b: y, a: x}`));
  });

  test('depends on everything that determines the content', () => {
    const texts = [
      BASE,
      BASE.replace('mock', 'vault'),
      BASE.replace('/app/db', '/app/db2'),
      ...[
        'versionStage: a',
        'versionId: a',
        'region: a',
        'role: a',
        'keys: [a]',
        'keys: {a: b}',
        'optionalKeys: [a]',
        'missingKeyPolicy: Ignore',
        'type: a',
        'format: raw\nkey: a',
        'format: binary\nkey: a',
        'format: raw\nkey: b',
        'decode: Auto',
        'template: {a: b}',
        'immutable: true',
      ].map((more) => `${BASE}${more}`),
    ];
    expect(new Set(texts.map(hash)).size).toBe(texts.length);
  });

  test('does not depend on the name of the Secret', () => {
    expect(hash(BASE.replace(': db', ': other'))).toBe(hash(BASE));
  });
});
