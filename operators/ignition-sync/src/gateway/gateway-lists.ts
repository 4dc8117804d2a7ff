import { isObject, type JsonObject } from '@bowline/machinery';

/** DesignerSession is a Designer that is connected to the gateway. */
export interface DesignerSession {
  readonly id: string;
  readonly user: string;
  /** Undefined if the gateway does not report it. */
  readonly project: string | undefined;
}

/** Names are part of messages and of the status. */
const MAX_TEXT_LENGTH = 200;

/** readItems returns the elements of a list: the list itself, or the `items` of an object. Undefined: neither. */
export function readItems(value: unknown): readonly unknown[] | undefined {
  const items = isObject(value) ? value.items : value;
  return Array.isArray(items) ? items : undefined;
}

/** readDesigners returns the sessions in a response of the gateway; undefined if it has another form. */
export function readDesigners(value: unknown): readonly DesignerSession[] | undefined {
  return readItems(value)?.map((item) => {
    const { id, user, project }: JsonObject = isObject(item) ? item : {};
    return { id: textOf(id) ?? '', user: textOf(user) ?? '', project: textOf(project) };
  });
}

/** readNames returns the names in a response of the gateway; undefined if it has another form. */
export function readNames(value: unknown): readonly string[] | undefined {
  const names = readItems(value)?.map((item) => (isObject(item) ? item.name : item));
  return names?.every((name) => typeof name === 'string') ? names : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, MAX_TEXT_LENGTH) : undefined;
}
