/**
 * Programs that start the example server and send requests: {@link
 * io.prmalloc.example.client.LoadMain} compares kinds of memory under one load, {@link
 * io.prmalloc.example.client.FleetMain} shows replicas that share plans, {@link
 * io.prmalloc.example.client.DashboardPicture} draws the dashboard of a server under load.
 *
 * <p>{@code LoadClient} is one connection, {@code LoadRun} many of them, {@code ServerProcess} a
 * server in a process of its own, {@code Scrape} what its metrics page said.
 */
package io.prmalloc.example.client;
