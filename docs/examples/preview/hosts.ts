import { keyOf, keyString } from '@bowline/kubernetes';
import { admit, deny, validating } from '@bowline/runtime';
import { Preview } from './preview.ts';

/** hosts refuses a Preview for a host that another one has. Two that come at the same moment both pass: the controller decides. */
export const hosts = validating(Preview, { name: 'hosts', operations: ['CREATE'] })
  .reads(Preview, { indexes: { host: ({ spec }) => [spec.host] } })
  .handle(({ object, list }) => {
    const { host } = object.spec;
    const [holder] = list(Preview, { by: { host } });
    if (!holder) return admit();
    const message = `"${host}" belongs to the Preview ${keyString(keyOf(holder))}; choose another host`;
    // kubectl shows the causes and, when there are any, not the message.
    return deny({ message, causes: [{ reason: 'FieldValueDuplicate', field: 'spec.host', message }] });
  });
