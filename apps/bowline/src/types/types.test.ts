import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Files, temporaryFiles } from '../testing/child-process.test-support.ts';
import { bowline } from '../testing/test-operators.test-support.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const routes = fileURLToPath(new URL('fixtures/routes.yaml', import.meta.url));
const example = (file: string): string => join(root, 'docs/examples/third-party', file);

let files: Files;
beforeAll(async () => {
  files = await temporaryFiles();
});
afterAll(() => files[Symbol.asyncDispose]());

async function types(...args: readonly string[]): Promise<string> {
  const { code, out, err } = await bowline(['types', ...args]);
  expect([code, err]).toEqual([0, '']);
  return out;
}

describe('bowline types', () => {
  it('generates types for the schemas of a CRD; types.cluster.test.ts uses them, and the type check compiles both', async () => {
    await expect(await types(routes)).toMatchFileSnapshot('fixtures/routes.ts');
  });

  it('writes the module of the example in the documentation', async () => {
    await expect(await types(example('certificates.yaml'))).toMatchFileSnapshot(example('certificates.ts'));
  });

  it('reads JSON and Lists, and writes the same module for definitions in another order', async () => {
    const { parseAllDocuments } = await import('yaml');
    const [certificates, , route] = [example('certificates.yaml'), routes].flatMap((path) =>
      parseAllDocuments(readFileSync(path, 'utf8')).map((document) => document.toJS() as object),
    );
    const listOf = (...items: readonly unknown[]): string => JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    const one = await types(await files.write('one.json', listOf(certificates, route)));
    const other = await types(await files.write('other.json', listOf(route, certificates)));
    expect(one).toBe(other);
    expect(one).toContain('export const Certificate:');
    expect(one).toContain('export const HTTPRouteV1:');
  });

  it('selects definitions and versions, and omits the version from names if there is only one', async () => {
    const module = await types(routes, '--crd', 'http-routes.net.example.com', '--versions', 'v1');
    expect(module).toContain("export const HTTPRoute: Resource<HTTPRoute, 'HTTP-Route.v1.net.example.com'>");
    expect(module).not.toContain('V1beta1');
  });

  it('overwrites only files that it wrote', async () => {
    const output = await files.write('kinds.ts', '// mine\n');
    const args = ['types', example('certificates.yaml'), '--output', output];
    expect(await bowline(args)).toMatchObject({
      code: 2,
      err: expect.stringContaining('was not written by bowline types; choose another file with --output'),
    });
    expect(readFileSync(output, 'utf8')).toBe('// mine\n');
    rmSync(output);
    for (const _ of [1, 2]) expect(await bowline(args)).toEqual({ code: 0, out: '', err: `wrote ${output}\n` });
    expect(readFileSync(output, 'utf8')).toBe(readFileSync(example('certificates.ts'), 'utf8'));
  });

  it.each<[string, string, readonly string[], RegExp]>([
    [
      'a file without definitions',
      'kind: Pod\napiVersion: v1\n',
      [],
      /contains no CustomResourceDefinition; pass the file with the CRDs/,
    ],
    ['invalid YAML', 'a: [', [], /it is not valid YAML: /],
    [
      'a definition in an old version',
      'kind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1beta1\nmetadata: { name: a.b }\n',
      [],
      /a\.b has the apiVersion apiextensions\.k8s\.io\/v1beta1; use apiextensions\.k8s\.io\/v1/,
    ],
  ])('refuses %s with exit code 2', async (_, text, args, message) => {
    const path = await files.write('wrong.yaml', text);
    const { code, out, err } = await bowline(['types', path, ...args]);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(message);
  });

  it.each<[readonly string[], RegExp]>([
    [[], /needs a file with CRDs, or --crd with the names/],
    [[routes, '--context', 'a'], /reads either a file or a cluster: omit the file/],
    [
      [routes, '--crd', 'gateways.net.example.com'],
      /contains no CustomResourceDefinition gateways.* it contains http-routes/,
    ],
    [[routes, '--versions', 'v2'], /has no version v2; it has v1beta1, v1, v1alpha1: choose with --versions/],
    [['/nowhere.yaml'], /cannot generate types from \/nowhere\.yaml: ENOENT; pass a readable file/],
  ])('refuses %j with exit code 2', async (args, message) => {
    const { code, out, err } = await bowline(['types', ...args]);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(message);
  });
});
