import { describe, expect, it } from 'vitest';
import { hashResourceJson } from './resource-json.ts';
import { applyTransforms, hashTransforms, type Transform } from './transform.ts';

const variables = { gatewayName: 'gw', vars: { a: '$&ü' }, labels: { 'app.kubernetes.io/name': 'ignition' } };
const template: Transform = { kind: 'template', variables };

function render(text: string | Buffer): string {
  return applyTransforms(Buffer.from(text), [template], 'a.txt').bytes.toString();
}

describe('a template', () => {
  it('replaces complete variables and leaves every other brace', () => {
    expect(render('{{.GatewayName}} {{ .Vars.a }} {{.Labels.app.kubernetes.io/name}}')).toBe('gw $&ü ignition');
    const others = '{{}} {{ x }} {{.}} { {{ GatewayName }} {{.GatewayName} {{ printf .A }} {"a":{"b":{}}}';
    expect(render(others)).toBe(others);
  });

  it('keeps bytes that are not UTF-8', () => {
    const content = Buffer.from([0xff, 0xfe, 0x0a]);
    expect(applyTransforms(content, [template], 'a').bytes).toEqual(content);
  });

  it.each([
    ['a\nb {{ .Nope }}', /^projects\/a: line 2 uses \{\{ \.Nope \}\}, which has no value/],
    ['{{.Vars.toString}}', /uses \{\{\.Vars\.toString\}\}, which has no value/],
    ['{{.SiteNumber}}', /spec\.siteNumber of the IgnitionSync is not set/],
    ['a\0{{.GatewayName}}', /the file is binary/],
  ])('fails for %j', (content, message) => {
    expect(() => applyTransforms(Buffer.from(content), [template], 'projects/a')).toThrow(message);
  });
});

describe('transforms', () => {
  it('are applied in order, and report the fields that exist', () => {
    const transforms: Transform[] = [
      template,
      { kind: 'system-name', value: 'gw-1' },
      { kind: 'field', jsonPath: '.port', value: '8043', field: 0 },
      { kind: 'field', jsonPath: '.missing', value: 'x', field: 1 },
      { kind: 'patch', jsonPath: '.new', value: 'y' },
    ];
    const { bytes, fields } = applyTransforms(
      Buffer.from('{"systemName":"{{.GatewayName}}","port":1}'),
      transforms,
      'a',
    );
    expect(bytes.toString()).toBe('{"systemName":"gw-1","port":8043,"new": "y"}');
    expect(fields).toEqual([0]);
  });

  it('name the file and the position of a syntax error', () => {
    const transforms: Transform[] = [{ kind: 'system-name', value: 'x' }];
    expect(() => applyTransforms(Buffer.from('{\n"a" 1}'), transforms, 'config/config.json')).toThrow(
      /^config\/config\.json: the file is not JSON: expected a colon .* line 2, column 5/,
    );
  });

  it('have the same hash whatever the order of variables, and another one for another value', () => {
    const hash = (labels: Record<string, string>) => hashTransforms([{ kind: 'template', variables: { labels } }]);
    expect(hash({ a: '1', b: '2' })).toBe(hash({ b: '2', a: '1' }));
    expect(hash({ a: '1' })).not.toBe(hash({ a: '2' }));
    expect(hashTransforms([])).toBe('');
  });
});

describe('a resource.json', () => {
  const ours = { scope: 'A', version: 1, attributes: { lastModification: { actor: 'x' }, restricted: true } };
  const hash = (value: unknown) => hashResourceJson(Buffer.from(JSON.stringify(value)));

  it('is the same after a gateway has rewritten it', () => {
    const { attributes, ...rest } = ours;
    const rewritten = {
      attributes: { ...attributes, lastModification: {}, lastModificationSignature: 'abc' },
      ...rest,
    };
    expect(hash(rewritten)).toBe(hash(ours));
    expect(hash({ scope: 'A', attributes: { lastModification: {} } })).toBe(hash({ scope: 'A' }));
  });

  it('differs in everything else', () => {
    expect(hash({ ...ours, version: 2 })).not.toBe(hash(ours));
    expect(hash({ ...ours, attributes: { restricted: false } })).not.toBe(hash(ours));
    expect(hash({ ...ours, lastModification: 1 })).not.toBe(hash(ours));
    expect(hashResourceJson(Buffer.from('{'))).toBeUndefined();
  });
});
