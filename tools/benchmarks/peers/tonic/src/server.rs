// SPDX-License-Identifier: MIT
//! The Echo service.

use crate::proto::echo_server::{Echo, EchoServer};
use crate::proto::{EchoReply, EchoRequest};
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tokio_stream::StreamExt;
use tonic::{Request, Response, Status};

struct Service;

fn reply(request: Request<EchoRequest>) -> Result<Response<EchoReply>, Status> {
    let payload = request.into_inner().payload;
    Ok(Response::new(EchoReply { payload }))
}

#[tonic::async_trait]
impl Echo for Service {
    async fn echo(&self, request: Request<EchoRequest>) -> Result<Response<EchoReply>, Status> {
        reply(request)
    }

    async fn park(&self, request: Request<EchoRequest>) -> Result<Response<EchoReply>, Status> {
        tokio::task::yield_now().await;
        reply(request)
    }

    async fn burn(&self, _: Request<EchoRequest>) -> Result<Response<EchoReply>, Status> {
        Err(Status::unimplemented("no row of a peer calls it"))
    }
}

pub async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?.port());
    let incoming = TcpListenerStream::new(listener).map_while(|accepted| {
        accepted
            .and_then(|stream| stream.set_nodelay(true).map(|()| stream))
            .ok()
    });
    tonic::transport::Server::builder()
        // The default of 200 would hold back most of a window of 1,000.
        .max_concurrent_streams(1024)
        .add_service(EchoServer::new(Service))
        .serve_with_incoming(incoming.map(Ok::<_, std::io::Error>))
        .await?;
    Ok(())
}
