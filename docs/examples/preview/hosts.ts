import { keyOf, keyString } from '@bowline/kubernetes';
import { admit, deny, validating } from '@bowline/runtime';
import { Preview } from './preview.ts';

/** hosts rejects a Preview whose host is already used. Of two concurrent requests both may pass: the controller decides. */
export const hosts = validating(Preview, { name: 'hosts', operations: ['CREATE'] })
  .reads(Preview, { indexes: { host: ({ spec }) => [spec.host] } })
  .handle(({ object, list }) => {
    const { host } = object.spec;
    const [holder] = list(Preview, { by: { host } });
    if (!holder) return admit();
    const message = `"${host}" is already used by the Preview ${keyString(keyOf(holder))}; choose another host`;
    // kubectl shows the causes and, when there are any, not the message.
    return deny({ message, causes: [{ reason: 'FieldValueDuplicate', field: 'spec.host', message }] });
  });
