import { resolveSchema, type Schema } from '@bowline/kubernetes/schemas';
import { isScalar, type Message, messageOf, refsOf } from '../protobuf/message-fields.ts';

type Properties = NonNullable<Schema['properties']>;

const known = new WeakMap<Properties, ReadonlySet<string>>();

/**
 * omitEmptyFields returns the properties whose zero value (0, false or the empty string) the API server does not
 * distinguish from an absent value, and omits. That depends on the API server's own types, and is recorded in the table
 * of their fields. Without a `ref` the definition is looked up by its name.
 */
export function omitEmptyFields(properties: Properties, ref: string | undefined, name: string): ReadonlySet<string> {
  let names = known.get(properties);
  if (!names) {
    const found = ref ?? [...refsOf(name), 'meta-v1.ObjectMeta'].find((each) => isOf(each, properties));
    names = new Set(found === undefined ? [] : omitEmptyNames(messageOf(found)));
    known.set(properties, names);
  }
  return names;
}

function isOf(ref: string, properties: Properties): boolean {
  return resolveSchema({ ref }).properties === properties;
}

function omitEmptyNames({ fields }: Message): string[] {
  return [...fields.values()].flatMap((field) => {
    if (field.form === 'inline') return omitEmptyNames(field.message());
    return field.form === 'single' && isScalar(field.type) && !field.hasPresence ? [field.name] : [];
  });
}
