import { adapterSuite } from '@questline/testing';
import express from 'express';
import express4 from 'express4';
import { createExpressHost } from './host.ts';

adapterSuite({ name: 'Express 5', create: (setup) => createExpressHost(express, setup) });
adapterSuite({
  name: 'Express 4',
  create: (setup) => createExpressHost(express4 as unknown as typeof express, setup),
});
