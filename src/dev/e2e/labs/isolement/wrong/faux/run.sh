#!/usr/bin/env bash
answer murs-vus
