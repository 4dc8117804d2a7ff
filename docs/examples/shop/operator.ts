import { defineOperator } from '@bowline/runtime';
import { shopController } from './controller.ts';
import { Shop } from './shop.ts';

/**
 * shops runs applications in two parts. It is an example: it writes, in their namespace, for anybody who may make a Shop, without
 * asking what else they may do.
 */
export const shops = defineOperator({
  name: 'shops',
  domain: 'example.com',
  resources: [Shop],
  controllers: [shopController],
});
