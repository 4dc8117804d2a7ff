import { ConfigMap } from '@bowline/kubernetes';
import { s } from '@bowline/machinery/schema';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { controller } from '../controller/builder.ts';
import { type Command, command } from './command.ts';
import type { CommandInputs, CommandManifest, KeyedContent } from './command-input.ts';
import { defineOperator } from './operator.ts';

const controllers = [controller(ConfigMap).reconcile(() => {})];
const define = (commands: readonly Command[], kubectlPlugin?: string) => () =>
  defineOperator({ name: 'tools', domain: 'bowline.dev', controllers, commands, kubectlPlugin });

interface Device {
  readonly serial: string;
  readonly slot?: number;
}

describe('command', () => {
  it('types the contents of inputs by their declarations', () => {
    command({
      name: 'create',
      summary: 'Creates a secret',
      inputs: {
        pin: { summary: 'the PIN', maxBytes: 64, prompt: 'PIN' },
        json: { summary: 'a document', maxBytes: 1024, optional: true },
        from: { summary: 'values', maxBytes: 1024, keyed: true },
        objects: { summary: 'objects', maxBytes: 1024, manifests: true },
      },
      run: async ({ inputs }) => {
        expectTypeOf(inputs).toEqualTypeOf<{
          readonly pin: Buffer;
          readonly json: Buffer | undefined;
          readonly from: readonly KeyedContent[];
          readonly objects: readonly CommandManifest[];
        }>();
      },
    });
  });

  it('accepts settings only for flags of its options', () => {
    command({
      name: 'discovery',
      summary: 'Finds devices',
      options: s.object({ nodeName: s.string() }),
      flags: { nodeName: { env: 'NODE_NAME' } },
      run: async ({ options }) => void expectTypeOf(options.nodeName).toEqualTypeOf<string>(),
    });
    command({
      name: 'discovery',
      summary: 'Finds devices',
      options: s.object({ nodeName: s.string() }),
      // @ts-expect-error: there is no such option.
      flags: { node: { env: 'NODE_NAME' } },
      run: async () => {},
    });
  });

  it('accepts only returned data that its columns can show', () => {
    const output = {
      columns: [
        { name: 'Serial', value: ({ serial }: Device) => serial },
        { name: 'Slot', value: ({ slot }: Device) => slot },
      ],
    };
    const common = { name: 'devices', summary: 'Lists devices' };
    command({ ...common, output, run: async () => [{ serial: 'a', slot: 1 }] });
    command({ ...common, output, run: async () => ({ serial: 'a', more: true }) });
    // @ts-expect-error: the rows have no serial.
    command({ ...common, output, run: async () => [{ slot: 1 }] });
    // @ts-expect-error: it returns nothing.
    command({ ...common, output, run: async () => {} });
    // @ts-expect-error: data without columns would not be printed.
    command({ ...common, run: async () => [{ serial: 'a' }] });
  });

  it('types the rows of all columns by the first one', () => {
    command({
      name: 'devices',
      summary: 'Lists devices',
      output: {
        columns: [
          { name: 'Serial', value: (device: Device) => device.serial },
          { name: 'Slot', value: ({ slot }) => slot },
        ],
      },
      run: async () => [],
    });
  });

  it.each([
    ['logLevel', /the flag --log-level of the command "a" is a flag of the program; rename it/],
    ['namespace', /the flag --namespace of the command "a" is a flag of the program/],
    ['pinFile', /the flag --pin-file of the command "a" is declared twice; rename one of them/],
  ])('refuses the option %s', (field, text) => {
    const inputs = { pin: { summary: '', maxBytes: 8 } };
    const options = s.object({ [field]: s.string() });
    expect(define([command({ name: 'a', summary: '', options, inputs, run: async () => {} })])).toThrow(text);
  });

  it('refuses a repeatable flag that is not a list', () => {
    const options = s.object({ label: s.string() });
    const flags = { label: { repeatable: true } };
    const repeated = command({ name: 'a', summary: '', options, flags, run: async () => {} });
    expect(define([repeated])).toThrow(/the option "label" of the command "a" is repeatable, so it must be a list/);
  });

  it.each<[CommandInputs, RegExp]>([
    [{ x: { summary: '', maxBytes: Number.POSITIVE_INFINITY } }, /input "x" .* must have a maxBytes of at least 1/],
    [{ x: { summary: '', maxBytes: 0 } }, /input "x" of the command "a" must have a maxBytes of at least 1/],
    [
      { x: { summary: '', maxBytes: 1, keyed: true, prompt: 'X' } },
      /input "x" .* is keyed or optional, or has manifests, so it cannot have a prompt/,
    ],
    [
      { x: { summary: '', maxBytes: 1, optional: true, prompt: 'X' } },
      /is keyed or optional, or has manifests, so it cannot have a prompt/,
    ],
    [
      { x: { summary: '', maxBytes: 1, manifests: true, keyed: true } },
      /input "x" .* has manifests, so it cannot be keyed or optional/,
    ],
    [
      { x: { summary: '', maxBytes: 1, manifests: true }, y: { summary: '', maxBytes: 1, manifests: true } },
      /the flag --filename of the command "a" is declared twice/,
    ],
  ])('refuses the inputs %j', (inputs, text) => {
    expect(define([command({ name: 'a', summary: '', inputs, run: async () => {} })])).toThrow(text);
  });

  it('refuses a kubectl plugin with an invalid name or without commands', () => {
    const commands = [command({ name: 'a', summary: '', run: async () => {} })];
    expect(define(commands, 'hsm')()).toMatchObject({ kubectlPlugin: 'hsm' });
    expect(define(commands, 'HSM_x')).toThrow(/kubectl plugin name "HSM_x" must be a DNS label/);
    expect(define([], 'hsm')).toThrow(/kubectl plugin "hsm" has no commands; declare commands, or omit it/);
  });
});
