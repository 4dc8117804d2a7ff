import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, it } from 'vitest';

const COLUMNS = 100;
/** A terminal of 24 lines shows the message, the line of code that it is about, and its location. */
const MAX_LINES = 15;

const CONFIG = fileURLToPath(new URL('../../../../tsconfig.base.json', import.meta.url));

const PREAMBLE = `
import { ConfigMap, Deployment, type ObjectOf, type Resource, Secret } from '@bowline/kubernetes';
import { s } from '@bowline/machinery/schema';
import { managedContent } from '../content/managed-content.ts';
import { controller } from './builder.ts';
import { defineResource } from '../resource/define-resource.ts';

const fields = { title: s.string(), replicas: s.integer().default(1), theme: s.enum(['light', 'dark']), hosts: s.array(s.string()) };
const Site = defineResource({ group: 'example.dev', version: 'v1', kind: 'Site', scope: 'Namespaced', spec: s.object({ ...fields, pages: s.array(s.object(fields)) }), status: s.object({ ...fields, url: s.string().optional() }) });
const Page = defineResource({ group: 'example.dev', version: 'v1', kind: 'Page', scope: 'Namespaced', spec: s.object({ ...fields, parts: s.array(s.object(fields)) }) });
type Page = ObjectOf<typeof Page>;
const metadata = { namespace: 'a', name: 'b' };
const secrets = managedContent({ resource: Secret, maps: ['data'], managers: ['test'], annotations: { hash: 'h', time: 't', keys: 'k' }, operatorAnnotations: {} });
const page = { title: 'a', theme: 'light' as const, hosts: [], parts: [] };
`;

interface Mistake {
  readonly what: string;
  readonly code: string;
  /** The helpful part of the message. */
  readonly expected: string;
}

const declared = 'controller(Site).applies(ConfigMap).owns(Deployment)';

const MISTAKES: readonly Mistake[] = [
  {
    what: 'an undeclared built-in kind in apply',
    code: `${declared}.reconcile(async ({ apply }) => { await apply(Secret, { metadata }); });`,
    expected: `'"Secret.v1."' is not assignable to type '"ConfigMap.v1." | "Deployment.v1.apps"'`,
  },
  {
    what: 'an undeclared custom kind in apply',
    code: `${declared}.reconcile(async ({ apply }) => { await apply(Page, { metadata, spec: {} as never }); });`,
    expected: `'"Page.v1.example.dev"' is not assignable to type '"ConfigMap.v1." | "Deployment.v1.apps"'`,
  },
  {
    what: 'any kind in apply where none is declared',
    code: 'controller(Site).reconcile(async ({ apply }) => { await apply(Page, { metadata, spec: {} as never }); });',
    expected: 'no kind: declare .owns(Kind) or .applies(Kind)',
  },
  {
    what: 'any kind in ensure where none is declared',
    code: `${declared}.reconcile(async ({ ensure }) => { await ensure(secrets, metadata, secrets.desired({ operatorAnnotations: {} }), { claim: () => 'ours' }); });`,
    expected: 'no kind: declare .ensures(Kind)',
  },
  {
    what: 'a kind that is not declared for removal',
    code: `${declared}.reconcile(async ({ remove }) => { await remove(ConfigMap, metadata); });`,
    expected: 'no kind: declare one with { remove: true }',
  },
  {
    what: 'an undeclared custom kind in get',
    code: `${declared}.reconcile(({ get }) => { get(Page, metadata); });`,
    expected: `'"Page.v1.example.dev"' is not assignable to type '"Site.v1.example.dev" | "Deployment.v1.apps"'`,
  },
  {
    what: 'an undeclared built-in kind in list',
    code: `${declared}.reconcile(({ list }) => { list(Secret); });`,
    expected: `'"Secret.v1."' is not assignable to type '"Site.v1.example.dev" | "Deployment.v1.apps"'`,
  },
  {
    what: 'a kind whose type carries no id',
    code: 'controller(Site).applies(Page as Resource<Page>);',
    expected: 'define the kind with resource<Type>()({ … }) or defineResource',
  },
  {
    what: 'a source that is declared twice',
    code: 'controller(Site).owns(Secret).watches(Secret, { map: () => [] });',
    expected: 'name this one with',
  },
  {
    what: 'an unknown field of a desired object',
    code: 'controller(Site).applies(Page).reconcile(async ({ apply }) => { await apply(Page, { metadata, spec: { ...page, sise: 1 } }); });',
    expected: "'sise' does not exist",
  },
  {
    what: 'a value of the wrong type in a desired object',
    code: `${declared}.reconcile(async ({ apply }) => { await apply(Deployment, { metadata, spec: { replicas: '3', selector: {}, template: {} } }); });`,
    expected: "'string' is not assignable to type 'number'",
  },
  {
    what: 'a missing field of a desired object',
    code: "controller(Site).applies(Page).reconcile(async ({ apply }) => { await apply(Page, { metadata, spec: { title: 'a' } }); });",
    expected: 'parts, theme, hosts',
  },
  {
    what: 'the status of a kind that has none',
    code: "controller(Page).reconcile(({ status }) => { status.condition('Ready', true, 'Done', 'done'); });",
    expected: 'the kind has no status: add one to its defineResource',
  },
  {
    what: 'a field that the status lacks',
    code: "controller(Site).reconcile(({ status }) => { status.set({ uri: 'a' }); });",
    expected: "'uri' does not exist",
  },
];

/**
 * messagesOf compiles each text as a file of its own beside this one, so that the messages of a mistake are its own.
 */
function messagesOf(texts: readonly string[]): readonly string[] {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  const { config } = ts.readConfigFile(CONFIG, (path) => ts.sys.readFile(path)) as {
    config: { compilerOptions: object };
  };
  const { options } = ts.convertCompilerOptionsFromJson(
    { ...config.compilerOptions, noEmit: true, noUnusedLocals: false },
    folder,
  );
  const files = new Map(texts.map((text, index) => [`${folder}mistake-${index}.ts`, text]));
  const disk = ts.createCompilerHost(options);
  const host: ts.CompilerHost = {
    ...disk,
    fileExists: (name) => files.has(name) || disk.fileExists(name),
    readFile: (name) => files.get(name) ?? disk.readFile(name),
    getSourceFile: (name, version, ...rest) => {
      const text = files.get(name);
      return text === undefined ? disk.getSourceFile(name, version, ...rest) : ts.createSourceFile(name, text, version);
    },
  };
  const program = ts.createProgram([...files.keys()], options, host);
  return [...files.keys()].map((name) =>
    program
      .getSemanticDiagnostics(program.getSourceFile(name))
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
      .join('\n'),
  );
}

/** Returns how many lines of a terminal a message takes. */
function screenLines(message: string): number {
  return message.split('\n').reduce((lines, line) => lines + Math.max(1, Math.ceil(line.length / COLUMNS)), 0);
}

// One program for all: reading the types of the packages takes time, and happens once.
it('explains a type error about a kind in a few lines', () => {
  const [correct, ...messages] = messagesOf([PREAMBLE, ...MISTAKES.map(({ code }) => `${PREAMBLE}${code}\n`)]);
  expect(correct).toBe('');
  for (const [index, { what, expected }] of MISTAKES.entries()) {
    const message = messages[index] ?? '';
    expect(message, what).toContain(expected);
    expect(screenLines(message), `${what}:\n${message}`).toBeLessThanOrEqual(MAX_LINES);
    expect(message, what).not.toContain('exactOptionalPropertyTypes');
  }
}, 120_000);
