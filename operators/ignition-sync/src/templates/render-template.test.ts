import { describe, expect, it } from 'vitest';
import { isTemplate, renderTemplate } from './render-template.ts';
import type { TemplateVariables } from './template-variables.ts';

const variables: TemplateVariables = {
  gatewayName: 'site',
  podName: 'site-12',
  namespace: 'plant',
  siteNumber: '042',
  ref: 'main',
  commit: '1a2b3c',
  vars: { host: 'db', empty: '', nested: '{{.Ref}}', __proto__own: 'x' },
  labels: { app: 'gateway', 'app.kubernetes.io/name': 'ignition' },
};

const render = (text: string, changes: Partial<TemplateVariables> = {}) =>
  renderTemplate(text, { ...variables, ...changes }, { source: 'config/a.json' });

describe('renderTemplate', () => {
  it.each<[string, string]>([
    ['', ''],
    ['plain', 'plain'],
    ['{{.GatewayName}}', 'site'],
    ['{{ .PodName }}', 'site-12'],
    ['{{\t.PodOrdinal }}', '12'],
    ['a/{{.Namespace}}/{{.SiteNumber}}b', 'a/plant/042b'],
    ['{{.Ref}}@{{.Commit}}', 'main@1a2b3c'],
    ['{{.Vars.host}}{{.Vars.empty}}', 'db'],
    ['{{.Labels.app}} {{.Labels.app.kubernetes.io/name}}', 'gateway ignition'],
    // Values are not templates themselves.
    ['{{.Vars.nested}}', '{{.Ref}}'],
    ['{{{.Ref}}}', '{main}'],
  ])('renders %j as %j', (text, rendered) => {
    expect(render(text)).toBe(rendered);
  });

  it.each([
    '{"a": {"b": {}}}',
    '{{}}',
    '{{ }}',
    '{{.}}',
    '{{Ref}}',
    '{{ .Ref',
    '{ {.Ref} }',
    '{{\n.Ref}}',
    '{{ .Ref | upper }}',
    '{{ if .Ref }}',
    '{{ .Vars.a .Vars.b }}',
    '{{ "x" }}',
    '$1 $& {{',
  ])('leaves %j unchanged', (text) => {
    expect(render(text)).toBe(text);
    expect(isTemplate(text)).toBe(false);
  });

  it.each<[string, string]>([
    [
      'a\n\nb {{.Unknown}}',
      'cannot render config/a.json, line 3: {{.Unknown}}: the variable is unknown; use one of GatewayName',
    ],
    ['{{.gatewayName}}', 'the variable is unknown'],
    ['{{.Vars}}', 'the variable is unknown'],
    ['{{.Vars.missing}}', 'line 1: {{.Vars.missing}}: spec.vars of the SyncProfile has no such variable'],
    ['{{.Vars.constructor}}', 'has no such variable'],
    ['{{.Labels.missing}}', 'the pod has no such label'],
  ])('refuses %j', (text, message) => {
    expect(() => render(text)).toThrow(
      expect.objectContaining({
        code: 'BOWLINE_IGNITION_TEMPLATE',
        message: expect.stringContaining(message) as string,
      }),
    );
    expect(isTemplate(text)).toBe(true);
  });

  it('refuses variables without a value', () => {
    expect(() => render('{{.SiteNumber}}', { siteNumber: undefined })).toThrow(
      'spec.siteNumber of the IgnitionSync is not set',
    );
    expect(() => render('{{.PodOrdinal}}', { podName: 'site-7d9c8b6f5-abcde' })).toThrow(
      'the name of the pod has no ordinal',
    );
    expect(() => render('{{.Vars.a}}', { vars: undefined })).toThrow('has no such variable');
    expect(() => render('{{.Labels.a}}', { labels: undefined })).toThrow('has no such label');
  });

  it('takes time in proportion to the length of the text', () => {
    const text = `${'{{ '.repeat(200_000)}${' '.repeat(200_000)}`;
    expect(render(text)).toBe(text);
  });
});
