import { describe, expectTypeOf, it } from 'vitest';
import type { Read, Written } from './infer.ts';
import { s } from './s.ts';

const Spec = s.object({
  name: s.string(),
  note: s.string().maxLength(10).optional(),
  size: s.integer().default(3).min(1),
  policy: s.enum(['Delete', 'Orphan']).default('Delete'),
  level: s.enum([1, 2]).optional(),
  parent: s.string().nullable(),
  labels: s.map(s.string()).optional(),
  targets: s.array(s.object({ namespace: s.string(), name: s.string().default('') })).listMapBy('namespace', 'name'),
  selector: s.labelSelector().optional(),
  port: s.intOrString(),
  anything: s.unknown().optional(),
  nested: s.object({ deep: s.boolean().default(true) }).default({}),
});

describe('Read', () => {
  it('has defaulted fields, and everything is readonly', () => {
    expectTypeOf<Read<typeof Spec>>().toEqualTypeOf<{
      readonly name: string;
      readonly note?: string | undefined;
      readonly size: number;
      readonly policy: 'Delete' | 'Orphan';
      readonly level?: 1 | 2 | undefined;
      readonly parent: string | null;
      readonly labels?: { readonly [key: string]: string } | undefined;
      readonly targets: readonly { readonly namespace: string; readonly name: string }[];
      readonly selector?:
        | {
            readonly matchLabels?: { readonly [key: string]: string } | undefined;
            readonly matchExpressions?:
              | readonly {
                  readonly key: string;
                  readonly operator: string;
                  readonly values?: readonly string[] | undefined;
                }[]
              | undefined;
          }
        | undefined;
      readonly port: number | string;
      readonly anything?: unknown;
      readonly nested: { readonly deep: boolean };
    }>();
  });

  it('of a list of conditions has the fields of metav1.Condition', () => {
    const conditions = s.conditions();
    expectTypeOf<Read<typeof conditions>[number]['status']>().toEqualTypeOf<'True' | 'False' | 'Unknown'>();
    expectTypeOf<Read<typeof conditions>[number]['observedGeneration']>().toEqualTypeOf<number | undefined>();
  });
});

describe('Written', () => {
  it('lets fields with a default be absent', () => {
    type Spec = Written<typeof Spec>;
    expectTypeOf<Spec['size']>().toEqualTypeOf<number | undefined>();
    expectTypeOf<Spec['nested']>().toEqualTypeOf<{ readonly deep?: boolean | undefined } | undefined>();
    expectTypeOf<{ name: 'a'; parent: null; targets: []; port: 80 }>().toExtend<Spec>();
    expectTypeOf<{ name: 'a'; parent: null; targets: [] }>().not.toExtend<Spec>();
  });

  it('is the type that default and example accept', () => {
    // @ts-expect-error a number is not a string
    const wrong = () => s.string().default(3);
    // @ts-expect-error there is no such member of the enumeration
    const other = () => s.enum(['a', 'b']).default('c');
    expectTypeOf(wrong).toBeFunction();
    expectTypeOf(other).toBeFunction();
  });

  it('keeps the kind of a schema through every method', () => {
    expectTypeOf(s.string().optional().minLength(1).describe('x').nullable().pattern('a').default('a')).toHaveProperty(
      'maxLength',
    );
    // @ts-expect-error a number has no length
    const wrong = () => s.integer().minLength(1);
    expectTypeOf(wrong).toBeFunction();
  });
});
