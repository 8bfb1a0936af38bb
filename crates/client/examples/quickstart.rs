use candor_client::types::{EmployeeCreate, ObservationType};
use candor_client::types::{ListObservationsFilter, ListObservationsQuery, ObservationCreate};
use candor_client::{Candor, Error};

/// Creates an employee with this address, and returns the name and what was observed.
pub async fn observe(candor: &Candor, email: &str) -> Result<Vec<String>, Error> {
    let ada = candor.employees().create(EmployeeCreate::new(email, "Ada", "Moreau")).await?;
    let text = "Explained the outage to the customer calmly.";
    candor.observations().create(ObservationCreate::new(&ada.id, ObservationType::Strength, text)).await?;

    let filter = ListObservationsFilter::new().employee_id(&ada.id);
    let query = ListObservationsQuery::new().filter(filter).expand(["employee"]);
    let mut observations = candor.observations().list(query).entries();
    let mut lines = Vec::new();
    while let Some(observation) = observations.next().await? {
        let name = observation.employee.map(|employee| employee.first_name).unwrap_or_default();
        lines.push(format!("{name}: {}", observation.observation));
    }
    Ok(lines)
}
