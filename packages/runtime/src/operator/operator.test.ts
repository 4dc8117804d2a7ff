import { ConfigMap, Secret } from '@bowline/kubernetes';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { controller } from '../controller/builder.ts';
import { defineOperator } from './operator.ts';

const plain = controller(ConfigMap).reconcile(() => {});
const needy = controller(Secret)
  .using<{ greet(): string }>()
  .reconcile(({ deps }) => void deps.greet());

describe('defineOperator', () => {
  it('demands a setup that returns what its controllers need', () => {
    defineOperator({ name: 'plain', controllers: [plain] });
    defineOperator({ name: 'both', controllers: [plain, needy], setup: () => ({ greet: () => 'hello', more: 1 }) });
    defineOperator({ name: 'later', controllers: [needy], setup: async () => ({ greet: () => 'hello' }) });
    // @ts-expect-error the controller needs a greeter
    defineOperator({ name: 'none', controllers: [plain, needy] });
    // @ts-expect-error that is not a greeter
    defineOperator({ name: 'wrong', controllers: [needy], setup: () => ({ greet: 1 }) });
  });

  it('gives services what setup returned, and setup the configuration as parsed', () => {
    defineOperator({
      name: 'configured',
      config: { parse: (section: unknown) => ({ url: String(section) }) },
      setup: ({ config }) => {
        expectTypeOf(config).toEqualTypeOf<{ url: string }>();
        return { greet: () => config.url };
      },
      controllers: [needy],
      services: [{ name: 'receiver', run: async (_, deps) => void deps.greet() }],
    });
  });

  it('lets services alone follow the type of setup', () => {
    defineOperator({
      name: 'services',
      setup: () => ({ port: 80 }),
      services: [
        {
          name: 'receiver',
          run: async (_, deps) => {
            expectTypeOf(deps).toEqualTypeOf<{ port: number }>();
          },
        },
      ],
    });
  });

  it.each([
    [{ name: 'Not A Label', controllers: [plain] }, /DNS label/],
    [{ name: 'x'.repeat(56), controllers: [plain] }, /at most 55 characters/],
    [{ name: 'empty' }, /neither controllers nor services/],
    [{ name: 'twice', controllers: [plain, plain] }, /controller name "configmap" is used twice/],
  ])('refuses %j', (options, text) => {
    expect(() => defineOperator(options)).toThrow(text);
    expect(() => defineOperator(options)).toThrow(expect.objectContaining({ code: 'BOWLINE_OPERATOR_INVALID' }));
  });
});
